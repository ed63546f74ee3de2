package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/ca"
	"troupe/fleetd/vault"
)

// caCommand manages the fleet's certificates. init, server and instance work on a folder
// without fleetd: the folder may be on a machine without a network.
func (sh *shell) caCommand() *cobra.Command {
	return group("ca", "the fleet's own certificates: init, server, instance, list, revoke", sh.caInit(), sh.caServer(), sh.caInstance())
}

func folderFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "dir", "ca", "folder with the fleet's keys")
}

func (sh *shell) caInit() *cobra.Command {
	var dir, name string
	c := &cobra.Command{
		Use: "init", Short: "make the root and intermediate certificates of a fleet", Args: cobra.NoArgs,
		Long: `Make the fleet's certificate authority. The root signs the intermediate, the intermediate
signs the certificates of robots, servers and fleetd instances; fleetd serve --ca DIR needs
only the intermediate. A folder that is not empty is never overwritten.`,
		Example: "  fleetd ca init --dir /etc/troupe/ca --name museum",
		RunE: run(func(*cobra.Command, []string) error {
			if err := vault.Make(dir, name, time.Now()); errors.Is(err, vault.ErrExists) {
				return &failure{code: exitConflict, err: fmt.Errorf("%w; nothing was changed, because a running fleet may use these keys", err)}
			} else if err != nil {
				return err
			}
			fmt.Fprintf(sh.Out, `made in %[1]s:
  %[2]s        root certificate, which every client trusts
  %[3]s    its key: move it offline now, for example to a stick in a safe; it is needed again in ten years
  %[4]s intermediate certificate; it and its key sign all other certificates
  %[5]s          both certificates, for the broker's --client-ca
  %[6]s         CRL (list of revoked certificates), for the broker's --crl
next:
  fleetd ca server --dir %[1]s --dns NAME --out broker    a certificate for the broker
  fleetd serve --ca %[1]s ...
`, dir, vault.RootFile, vault.RootKeyFile, vault.IntermediateFile, vault.IssuersFile, vault.CRLFile)
			return nil
		}),
	}
	folderFlag(c, &dir)
	c.Flags().StringVar(&name, "name", "troupe", "name of the fleet in its certificates")
	return c
}

// pairFlags say where a certificate and its key are written.
type pairFlags struct {
	dir, out string
	replace  bool
}

func (p *pairFlags) flags(c *cobra.Command, out string) {
	folderFlag(c, &p.dir)
	c.Flags().StringVar(&p.out, "out", out, "write OUT.pem and OUT.key.pem")
	c.Flags().BoolVar(&p.replace, "replace", false, "overwrite existing files, for example to renew them")
}

// save issues a certificate and writes it with its key.
func (p *pairFlags) save(sh *shell, make func(*vault.Vault, time.Time) (ca.Pair, error)) error {
	now := time.Now()
	v, err := vault.Open(p.dir, now)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; name the folder with the keys of the fleet with --dir; only a new fleet makes one, with fleetd ca init", err)
	}
	if err != nil {
		return err
	}
	pair, err := make(v, now)
	if err != nil {
		return err
	}
	certificate, key := p.out+".pem", p.out+".key.pem"
	err = vault.SavePair(certificate, key, p.replace, pair, v.Chain(pair.Certificate))
	if errors.Is(err, vault.ErrExists) {
		return &failure{code: exitConflict, err: fmt.Errorf("%w; --replace overwrites it", err)}
	} else if err != nil {
		return err
	}
	fmt.Fprintf(sh.Out, "%s and %s, valid until %s\n", certificate, key, pair.Certificate.NotAfter.Format(time.DateOnly))
	return nil
}

func (sh *shell) caServer() *cobra.Command {
	var p pairFlags
	var dns, ips []string
	var node bool
	c := &cobra.Command{
		Use: "server", Short: "make the TLS server certificate of a broker or a fleetd instance", Args: cobra.NoArgs,
		Long: `Make a TLS server certificate, valid for 398 days. It must contain every name and address
under which clients reach the server. With --node it is that of a node of nats-server in a
cluster, which connects to the other nodes with it, and needs a name.`,
		Example: "  fleetd ca server --dir ca --dns broker.museum.example --ip 10.0.0.2 --out broker",
		RunE: run(func(*cobra.Command, []string) error {
			var addresses []netip.Addr
			for _, text := range ips {
				ip, err := netip.ParseAddr(text)
				if err != nil {
					return usage("--ip %s: write an address such as 10.0.0.2", text)
				}
				addresses = append(addresses, ip)
			}
			if len(dns)+len(ips) == 0 {
				return usage("write --dns NAME or --ip ADDRESS under which clients reach the server")
			}
			if node && len(dns) == 0 {
				return usage("write --dns NAME under which the other nodes reach this one")
			}
			return p.save(sh, func(v *vault.Vault, now time.Time) (ca.Pair, error) {
				if node {
					return v.Node(dns, addresses, now)
				}
				return v.Server(dns, addresses, now)
			})
		}),
	}
	p.flags(c, "server")
	c.Flags().StringSliceVar(&dns, "dns", nil, "name of the server; may be repeated")
	c.Flags().StringSliceVar(&ips, "ip", nil, "address of the server; may be repeated")
	c.Flags().BoolVar(&node, "node", false, "for a node of nats-server in a cluster")
	return c
}

func (sh *shell) caInstance() *cobra.Command {
	var p pairFlags
	var name string
	c := &cobra.Command{
		Use: "instance", Short: "make the client certificate of a fleetd instance for the broker", Args: cobra.NoArgs,
		Long: `Make the client certificate of a fleetd instance that runs without the folder of keys.
fleetd serve --ca makes its own. Anybody with the key can act as fleetd: if the key is lost or
stolen, revoke its certificate with fleetd ca revoke SERIAL. The folder records the
certificate, and a fleetd instance that runs with the folder lists it (fleetd ca list).`,
		RunE: run(func(*cobra.Command, []string) error {
			serial := ""
			err := p.save(sh, func(v *vault.Vault, now time.Time) (ca.Pair, error) {
				pair, err := v.IssueInstance(name, now)
				if err != nil {
					return pair, &failure{code: exitUsage, err: err}
				}
				serial = ca.Serial(pair.Certificate)
				return pair, v.SaveIssued(pair.Certificate)
			})
			if err == nil {
				fmt.Fprintf(sh.Out, "serial %s\n", serial)
			}
			return err
		}),
	}
	p.flags(c, "fleetd")
	c.Flags().StringVar(&name, "name", "fleetd", "MQTT name of the fleetd instance")
	return c
}

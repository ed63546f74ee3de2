package backup

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// ErrPassphrase says that a backup is sealed with another passphrase.
var ErrPassphrase = errors.New("the passphrase is not the one that the backup was sealed with")

// MinPassphrase is how many characters a passphrase has at least.
const MinPassphrase = 12

// workFactor is the cost of each guess of a passphrase: about a second and 256 MiB.
const workFactor = 18

// seal returns what seals with a passphrase all that is written to it. A caller that does not close it leaves what no
// passphrase opens.
func seal(to io.Writer, passphrase string, factor int) (io.WriteCloser, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	recipient.SetWorkFactor(factor)
	sealed, err := age.Encrypt(to, recipient)
	debug.FreeOSMemory() // of the key's derivation: a small server has no room for that of two keys
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return sealed, nil
}

// unseal is the reverse of seal. What it returns was sealed with the passphrase: reading fails at the first bit that was not.
func unseal(from io.Reader, passphrase string) (io.Reader, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("unseal: %w", err)
	}
	opened, err := age.Decrypt(from, identity)
	debug.FreeOSMemory() // as in seal
	var wrong *age.NoIdentityMatchError
	switch {
	case errors.As(err, &wrong):
		return nil, ErrPassphrase
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return opened, nil
}

// sealCompressed is seal for what fill writes, compressed, and returns what was written: the size and the digest.
func sealCompressed(to io.Writer, passphrase string, factor int, fill func(io.Writer) error) (Member, error) {
	sealed, err := seal(to, passphrase, factor)
	if err != nil {
		return Member{}, err
	}
	compressed, err := zstd.NewWriter(sealed, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return Member{}, fmt.Errorf("compress: %w", err)
	}
	c := newCounter()
	if err := fill(io.MultiWriter(compressed, c)); err != nil {
		_ = compressed.Close() // ends what it has begun
		return Member{}, err
	}
	if err := errors.Join(compressed.Close(), sealed.Close()); err != nil {
		return Member{}, fmt.Errorf("write the backup: %w", err)
	}
	return c.member(databaseName), nil
}

// unsealCompressed is the reverse of sealCompressed; the caller closes what it returns.
func unsealCompressed(from io.Reader, passphrase string) (io.ReadCloser, error) {
	opened, err := unseal(from, passphrase)
	if err != nil {
		return nil, err
	}
	plain, err := zstd.NewReader(opened, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return plain.IOReadCloser(), nil
}

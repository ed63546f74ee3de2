package backup

import (
	"context"
	"io"
)

// Progress is called with how many bytes of a step are done, and of how many; total is 0 if that is not known. It may be nil.
type Progress func(step string, done, total int64)

// reader reports what is read, and ends with the error of ctx.
func (p Progress) reader(ctx context.Context, step string, from io.Reader, total int64) io.Reader {
	return &reported{ctx: ctx, from: from, progress: p, step: step, total: total}
}

type reported struct {
	ctx         context.Context
	from        io.Reader
	progress    Progress
	step        string
	done, total int64
	shown       int64
}

const reportEach = 1 << 20 // bytes

func (r *reported) Read(b []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.from.Read(b)
	if r.done += int64(n); r.progress != nil && (r.done-r.shown >= reportEach || r.shown == 0) {
		r.shown = r.done
		r.progress(r.step, r.done, r.total)
	}
	return n, err
}

package commitmeta_test

import (
	"errors"
	"testing"

	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/tabletest"
)

// FuzzPlans: plans and results of every action, from the files of real tables on: what they hold or an error that says
// where they are damaged.
func FuzzPlans(f *testing.F) {
	kept := map[string]int{}
	for _, name := range tabletest.Names(f, "") {
		files := tabletest.Open(f, name)
		for _, p := range instants(files) {
			ext := p[len(p)-min(len(p), 12):]
			if data := files.Bytes(p); len(data) > 0 && len(data) < 4096 && kept[ext] < 4 {
				kept[ext]++
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for what, err := range map[string]error{
			"compaction plan": second(commitmeta.ParseCompactionPlan(data)), "requested replace": second(commitmeta.ParseRequestedReplace(data)),
			"clean": second(commitmeta.ParseClean(data)), "cleaner plan": second(commitmeta.ParseCleanerPlan(data)),
			"rollback plan": second(commitmeta.ParseRollbackPlan(data)), "rollback": second(commitmeta.ParseRollback(data)),
			"restore plan": second(commitmeta.ParseRestorePlan(data)), "restore": second(commitmeta.ParseRestore(data)),
			"savepoint": second(commitmeta.ParseSavepoint(data)), "index": second(commitmeta.ParseIndex(data)), "commit": second(commitmeta.ParseCommit(data)),
		} {
			if err != nil && !corrupt.Is(err) && !errors.Is(err, commitmeta.ErrEmpty) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

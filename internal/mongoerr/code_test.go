package mongoerr

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTable(t *testing.T) {
	names := map[string]Code{}
	for i, e := range table {
		if i > 0 && e.code <= table[i-1].code {
			t.Errorf("%d %s: not in ascending order", e.code, e.name)
		}
		if other, ok := names[e.name]; ok {
			t.Errorf("%s names both %d and %d", e.name, other, e.code)
		}
		names[e.name] = e.code
		if got, ok := CodeByName(e.name); !ok || got != e.code {
			t.Errorf("CodeByName(%s) = %d, %v; want %d", e.name, got, ok, e.code)
		}
	}
}

// The names and numbers of MongoDB's manual, page "Error Codes".
func TestName(t *testing.T) {
	tests := []struct {
		code Code
		want string
	}{
		{0, "OK"},
		{1, "InternalError"},
		{2, "BadValue"},
		{9, "FailedToParse"},
		{11, "UserNotFound"},
		{13, "Unauthorized"},
		{14, "TypeMismatch"},
		{18, "AuthenticationFailed"},
		{20, "IllegalOperation"},
		{26, "NamespaceNotFound"},
		{27, "IndexNotFound"},
		{28, "PathNotViable"},
		{31, "RoleNotFound"},
		{40, "ConflictingUpdateOperators"},
		{43, "CursorNotFound"},
		{48, "NamespaceExists"},
		{50, "MaxTimeMSExpired"},
		{52, "DollarPrefixedFieldName"},
		{53, "InvalidIdField"},
		{56, "EmptyFieldName"},
		{57, "DottedFieldName"},
		{59, "CommandNotFound"},
		{61, "ShardKeyNotFound"},
		{66, "ImmutableField"},
		{67, "CannotCreateIndex"},
		{68, "IndexAlreadyExists"},
		{72, "InvalidOptions"},
		{73, "InvalidNamespace"},
		{79, "UnknownReplWriteConcern"},
		{85, "IndexOptionsConflict"},
		{86, "IndexKeySpecsConflict"},
		{91, "ShutdownInProgress"},
		{96, "OperationFailed"},
		{100, "UnsatisfiableWriteConcern"},
		{112, "WriteConflict"},
		{115, "CommandNotSupported"},
		{121, "DocumentValidationFailure"},
		{136, "CappedPositionLost"},
		{146, "ExceededMemoryLimit"},
		{166, "CommandNotSupportedOnView"},
		{167, "OptionNotSupportedOnView"},
		{168, "InvalidPipelineOperator"},
		{171, "CannotIndexParallelArrays"},
		{175, "QueryPlanKilled"},
		{197, "InvalidIndexSpecificationOption"},
		{206, "NoSuchSession"},
		{211, "KeyNotFound"},
		{225, "TransactionTooOld"},
		{237, "CursorKilled"},
		{241, "ConversionFailure"},
		{251, "NoSuchTransaction"},
		{256, "TransactionCommitted"},
		{260, "InvalidResumeToken"},
		{263, "OperationNotSupportedInTransaction"},
		{286, "ChangeStreamHistoryLost"},
		{290, "TransactionExceededLifetimeLimitSeconds"},
		{291, "NoQueryExecutionPlans"},
		{292, "QueryExceededMemoryLimitNoDiskUseAllowed"},
		{323, "APIStrictError"},
		{352, "UnsupportedOpQueryCommand"},
		{359, "CannotConvertIndexToUnique"},
		{10003, "CannotGrowDocumentInCappedNamespace"},
		{10107, "NotWritablePrimary"},
		{10334, "BSONObjectTooLarge"},
		{11000, "DuplicateKey"},
		{11600, "InterruptedAtShutdown"},
		{11601, "Interrupted"},
		{13113, "MergeStageNoMatchingDocument"},
		{13297, "DatabaseDifferCase"},
		{14031, "OutOfDiskSpace"},
		{40414, "IDLFailedToParse"},
		{40415, "IDLUnknownField"},
		{16020, "Location16020"},
		{50687, "Location50687"},
		{5979700, "Location5979700"},
		{-1, "Location-1"},
		{90404, "MessageNotFound"},
		{90410, "MessageLockLost"},
		{90411, "SessionLockLost"},
		{90423, "SessionCannotBeLocked"},
	}
	for _, tt := range tests {
		if got := tt.code.Name(); got != tt.want {
			t.Errorf("Code(%d).Name() = %q, want %q", tt.code, got, tt.want)
		}
		if tt.code.String() != tt.code.Name() {
			t.Errorf("Code(%d): String and Name differ", tt.code)
		}
	}
}

func TestNamed(t *testing.T) {
	if !BadValue.Named() || Code(16020).Named() {
		t.Error("BadValue has a name and 16020 has none")
	}
	if c, ok := CodeByName("NoSuchName"); ok || c != 0 {
		t.Errorf("CodeByName of an unknown name = %d, %v", c, ok)
	}
}

func TestLookupNeverFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Code(rapid.Int32().Draw(t, "code"))
		if c.Name() == "" {
			t.Fatal("a code without a name")
		}
		if !c.Named() && c.Categories() != 0 {
			t.Fatal("an unnamed code in a category")
		}
	})
}

func TestCategories(t *testing.T) {
	tests := []struct {
		code Code
		in   Category
		out  Category
	}{
		{InterruptedAtShutdown, CategoryInterruption, CategoryNotPrimaryError},
		{InterruptedAtShutdown, CategoryShutdownError, CategoryNetworkError},
		{InterruptedAtShutdown, CategoryRetriableError, CategoryExceededTimeLimitError},
		{Interrupted, CategoryInterruption, CategoryRetriableError},
		{MaxTimeMSExpired, CategoryExceededTimeLimitError, CategoryRetriableError},
		{ExceededTimeLimit, CategoryRetriableError, CategoryShutdownError},
		{NotWritablePrimary, CategoryNotPrimaryError, CategoryInterruption},
		{NoSuchTransaction, CategoryVoteAbortError, CategorySnapshotError},
		{SnapshotTooOld, CategorySnapshotError, CategoryRetriableError},
		{CursorNotFound, CategoryCursorInvalidatedError, CategoryRetriableError},
		{IDLUnknownField, CategoryIDLParseError, CategoryValidationError},
		{ChangeStreamHistoryLost, CategoryNonResumableChangeStreamError, CategoryRetriableError},
		{APIStrictError, CategoryVersionedAPIError, CategoryIDLParseError},
		{HostUnreachable, CategoryNetworkError | CategoryInternalOnly, CategoryInternalOnly},
	}
	for _, tt := range tests {
		if !tt.code.In(tt.in) {
			t.Errorf("%v is not in %b", tt.code, tt.in)
		}
		if tt.code.In(tt.out) {
			t.Errorf("%v is in %b", tt.code, tt.out)
		}
	}
	if BadValue.In(^Category(0)) || Code(16020).In(^Category(0)) {
		t.Error("codes without a category are in one")
	}
}

func BenchmarkName(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = DuplicateKey.Name()
	}
}

// Named reports whether the code has an official name.
func (c Code) Named() bool { return lookup(c) != nil }

// CodeByName returns the code with the given official name.
func CodeByName(name string) (Code, bool) {
	for i := range table {
		if table[i].name == name {
			return table[i].code, true
		}
	}
	return 0, false
}

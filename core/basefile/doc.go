// Package basefile reads Parquet base files by columns: the footer first, then, for
// the columns asked for and a bounded number of rows at a time, the pages.
//
// It is the only package that uses the Parquet library. Values arrive in vectors of
// Avro types (package column), so that base rows and log records can be merged:
//
//	Parquet                                 column
//	BOOLEAN, INT32, INT64, FLOAT, DOUBLE    boolean, int, long, float, double
//	INT96                                   long, timestamp-micros (as Spark reads it)
//	BYTE_ARRAY with STRING/ENUM/JSON        string, else bytes
//	FIXED_LEN_BYTE_ARRAY                    fixed
//	DECIMAL over any of them                the carrier with the decimal label
//	group / LIST (2 and 3 levels) / MAP     record / array / map
//
// Nested columns are put together from repetition and definition levels; the rule for
// which level of a LIST is the element follows the compatibility rules of the Parquet
// format, since Hudi writes both the two-level and the three-level form.
package basefile

// Package measure turns what robots report anyway into measurements: for each robot and minute, how many values of each
// series arrived, and the least, the mean and the greatest of them. It decides which minute a value belongs to, packs
// minutes into small rows, and thins them out for a curve.
//
// Times are those at which fleetd received a message, by fleetd's clock. A minute in which nothing arrived has no point, so
// gaps stay gaps.
package measure

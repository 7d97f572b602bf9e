// Package house measures how the files of the root package use each other, and its
// test holds that they form no circle beyond those in testdata/circles.txt. That list
// may shrink and not grow.
//
// File A uses file B where A names something that B declares: a type, a function, a
// variable, a constant, a method or a field, as the compiler resolves it.
//
// Its other tests are of the repository as a whole: the words of its pages and comments,
// how much a bot links, and a release of a copy.
package house

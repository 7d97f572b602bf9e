package client

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trap is something that a naive client of this API gets wrong, and what shows
// that this one does not: tests that name its number, or why there are none.
type trap struct {
	number int
	what   string
	shown  string // names of tests, separated by spaces
	why    string // there are none
}

var traps = []trap{
	{1, "a sandbox order sent twice", "TestTrap_T1_ALostAnswerDoublesNothing TestTrap_T1_ALostRequestIsSentAgain TestTrap_T1_LooksAtTheAccountTell", ""},
	{2, "net/http repeats a POST", "TestTrap_T2_ADyingConnectionRepeatsNoWrite", ""},
	{3, "a stored refusal replays under its key", "TestTrap_T3_AnOrderAfterOneAttempt", ""},
	{4, "a 429 may be stored", "TestTrap_T4_A429StoredOrNot", ""},
	{5, "a 5xx after the work", "TestTrap_T1_ALostAnswerDoublesNothing", ""},
	{6, "a claim expires after 15 minutes", "TestTrap_T18_NothingIsSentAfterTheTTL", ""},
	{7, "a replay keeps for 24 hours", "TestTrap_T7_APendingWriteGrowsOld", ""},
	{8, "idempotency_in_flight wants the same key", "TestTrap_T3_AnOrderAfterOneAttempt", ""},
	{9, "idempotency_result_unknown is no refusal", "TestTrap_T3_AnOrderAfterOneAttempt TestTrap_T21_OthersMayHaveTraded", ""},
	{10, "409 is not one thing", "TestRuleFor", ""},
	{11, "one code, several statuses", "TestRuleFor TestTrap_T3_AnOrderAfterOneAttempt", ""},
	{12, "another body under the key is 422", "TestTrap_T3_AnOrderAfterOneAttempt", ""},
	{13, "keys are shared by every bot of a holder", "TestTrap_T13_KeysAreTheCallsOwn", ""},
	{14, "a replay on the first send", "TestTrap_T14_AReplayOnTheFirstSendIsMarked", ""},
	{15, "a replayed body is the past", "TestTrap_T15_AReplayIsOfThePast", ""},
	{16, "the characters of a key", "TestTrap_T16_KeysThatAreValid", ""},
	{17, "every live write has a key", "TestHeadersOfEveryOperation", ""},
	{18, "a resend is a late command", "TestTrap_T18_NothingIsSentAfterTheTTL", ""},
	{19, "market results have no id", "TestTrap_T19_Baselines", ""},
	{20, "one read that lags proves nothing", "TestTrap_T1_LooksAtTheAccountTell TestTrap_T20_ARestlessAccount", ""},
	{21, "others trade the same account", "TestTrap_T21_OthersMayHaveTraded", ""},
	{22, "three shapes of success", "TestTrap_T22_EachSuccessHasItsShape", ""},
	{23, "ok that is false", "TestTrap_T23_ARejectionIsToldByError", ""},
	{24, "200 by something in front", "TestHostileAnswers TestTrap_T24_TheServicesRefusalsStay", ""},
	{25, "numbers that are text", "TestTrap_T25_ClosePositionResponse", ""},
	{26, "amounts rounded to cents", "TestTrap_T26_CloseReportsCents", ""},
	{27, "codes differ by case", "TestTrap_T27_CodesDifferByCaseAlone", ""},
	{28, "names of members are exact", "TestTrap_T28_NamesAreExact", ""},
	{29, "one condition, two codes", "TestTrap_T29_OneSentinelForBothEnvironments", ""},
	{30, "400 and 404 can pass", "TestRuleFor", ""},
	{31, "no_price is not bad_symbol", "TestTrap_T31_NoPriceIsNotBadSymbol", ""},
	{32, "live has no bad_symbol", "TestLocalRefusalsAreTheServicesOwn", ""},
	{33, "codes and values nobody knows", "TestTrap_T33_UnknownValuesOfTheServiceSurvive", ""},
	{34, "null slippage is not 0", "TestTrap_T34_NullIsNotZero", ""},
	{35, "deciding by a message", "TestTrap_T35_NoCodeDecidesByAMessage", ""},
	{36, "403 is a mix", "TestRuleFor", ""},
	{37, "one account_locked for two states", "TestTrap_T37_WhatEachStatusAccepts", ""},
	{38, "loss limits are terminal", "TestTrap_T3_AnOrderAfterOneAttempt", ""},
	{39, "fallback codes are not retried", "TestARefusalThatPersists", ""},
	{40, "a refused order sent for ever", "TestTrap_T40_ARefusedOrderIsNotSentForEver", ""},
	{41, "503 of health is an answer", "TestTrap_T41_A503OfHealthIsAnAnswer", ""},
	{42, "feed unknown is not live", "TestTrap_T42_OnlyAllFourTogetherAreSafe", ""},
	{43, "exits pass the gate", "TestGate", ""},
	{44, "health that cannot be read", "TestGate", ""},
	{45, "healthy, and no price", "TestTrap_T45_AHealthyServiceCanLackAPrice", ""},
	{46, "one health request for many entries", "TestTrap_T46_OneHealthRequestForManyEntries", ""},
	{47, "three forms of time", "TestTrap_T47_EveryTimeIsATime", ""},
	{48, "no key on keyless routes", "TestHeadersOfEveryOperation", ""},
	{49, "four shapes of no mark", "TestTrap_T49_EveryWayToHaveNoMarkIsTheSame TestTrap_T49_T50_WhatIsNoPriceIsUnpriced", ""},
	{50, "a price is never 0", "TestTrap_T50_NoPriceIsEverZero", ""},
	{51, "unknown PnL is not 0", "TestTrap_T51_UnknownPnLIsNotSummedAsZero", ""},
	{52, "live keys have no prices", "TestTrap_T52_LiveKeysHaveNoPrices", ""},
	{53, "market data has no side effects", "TestTrap_T53_MarketDataClosesNothing", ""},
	{54, "reads fire triggers", "TestTrap_T54_ReadingTheAccountFiresTriggers", ""},
	{55, "without a reader no stop fires", "TestTrap_T55_WithoutAReaderNoStopFires", ""},
	{56, "unknown order types", "TestTrap_T56_OrderTypesAreClosed", ""},
	{57, "reduce-only on the sandbox", "TestLocalRefusalsAreTheServicesOwn", ""},
	{58, "an opposite order flips", "TestTrap_T58_AnOppositeOrderThatFlips", ""},
	{59, "how much to close", "TestTrap_T59_HowMuchToCloseIsAlwaysSaid", ""},
	{60, "no position left is null", "TestTrap_T60_NoPositionLeftIsNotNotTold", ""},
	{61, "leverage is clamped silently", "TestPreviewAgreesWithTheSimulator", ""},
	{62, "each market has its own leverage", "TestPreviewOfAClampedLeverage", ""},
	{63, "limit and market do not mix", "TestLocalRefusalsAreTheServicesOwn", ""},
	{64, "the range of the slippage", "TestLocalRefusalsAreTheServicesOwn", ""},
	{65, "the slippage check is skipped", "TestTrap_T65_TheSlippageCheckIsSkipped", ""},
	{66, "GUARD_BAND wants a fresh price", "TestTrap_T66_AFreshExpectedPriceGoesThrough TestPreviewAgreesWithTheSimulator", ""},
	{67, "levels have three states", "TestTrap_T67_LevelsHaveThreeStates", ""},
	{68, "live levels that are left out", "TestTrap_T68_OneLevelAloneKeepsTheOther TestTrap_T68_OneLevelAloneIsNotGuessed", ""},
	{69, "levels are judged by the present price", "TestTrap_T69_LevelsAreJudgedByThePresentPrice TestTrap_T69_LevelsAreJudgedByTheMark", ""},
	{70, "brackets narrower than the fees", "TestTrap_T70_BracketNarrowerThanTheFees TestTrap_T70_BracketsAgainstFees", ""},
	{71, "a position without its stop", "TestTrap_T71_NoNakedPosition", ""},
	{72, "two shapes of a fill", "TestTrap_T72_FillShapesDiffer", ""},
	{73, "gross and net", "TestTrap_T73_FeesAreDeductedOnce", ""},
	{74, "fees as reported", "TestTrap_T74_AccountingReadsTheTrades", ""},
	{75, "members the contract does not name", "TestTrap_T75_UnknownMembersAreKept", ""},
	{76, "market is a cause of three kinds", "TestTrap_T76_WhatMarketMeans", ""},
	{77, "trades without ids", "TestTrap_T77_EachTradeIsToldOnce", ""},
	{78, "a breach at the floor", "TestTrap_T78_FloorsAreLevelsAndBreachedAtTheFloor TestTrap_T78_DistanceToTheFloors", ""},
	{79, "a pass closes the book", "TestTrap_T76_WhatMarketMeans", ""},
	{80, "a close can pass or fail the account", "TestTrap_T80_ACloseCanEndTheAccount TestTrap_T80_ALiveCloseThatPassesIsTold", ""},
	{81, "the first account may be any", "TestTrap_T81_TheFirstAccountIsNotChosen", ""},
	{82, "statuses nobody knows", "TestTrap_T82_StatusesAllowNoEntryUnlessKnownTo TestTrap_T82_AnUnknownStatus", ""},
	{83, "account_not_found is not flat", "TestTrap_T83_IDsThatNameNothing", ""},
	{84, "the key of the other environment", "TestTrap_T84_KeysAreCheckedBeforeAnyByte", ""},
	{85, "a refused key tried on and on", "TestTrap_T85_ARefusedKeyIsNotTriedOnAndOn", ""},
	{86, "access is withdrawn", "TestTrap_T86_WithdrawnAccess", ""},
	{87, "redirects", "TestTrap_T87_RedirectsAreNotFollowed", ""},
	{88, "keys in outputs", "TestTrap_T88_NoKeyInAPanic TestTrap_T88_NoKeyInAnyOutput", ""},
	{89, "every form of Retry-After", "TestTrap_T89_RetryAfterInEveryForm", ""},
	{90, "waiting beyond the deadline", "TestEdge25_RetryAfterIsWaitedForInFullOrNotAtAll TestRetryAfterClosesForAMinuteAtTheMost", ""},
	{91, "clocks that differ", "TestTrap_T89_RetryAfterInEveryForm", ""},
	{92, "whose limit it is", "TestTrap_T92_LimitsAreTheKeysOwn TestEdge48_AGatewaysRateLimitHoldsNoExitUp", ""},
	{93, "entries do not wait", "TestTrap_T93_EntriesDoNotWaitAMinute", ""},
	{94, "exits starve behind entries", "TestTrap_T94_OverloadForAnHour", ""},
	{95, "flatten in the wrong order", "TestTrap_T95_RunsThenLimitsThenPositions", ""},
	{96, "resting orders fill without the bot", "TestTrap_T96_ACancelThatFindsNothing", ""},
	{97, "units that are easily confused", "TestRefusedByTheCompiler TestPreviewAgreesWithTheSimulator", ""},
	{98, "refusals of Pro orders", "TestARefusalThatPersists", ""},
	{99, "minimum and caps of the two environments", "TestTrap_T99_MinimumAndDust", ""},
	{100, "numbers are plain", "TestTrap_T100_NumbersArePlain", ""},
	{101, "one write at a time", "TestTrap_T101_AnotherProgramsWriteIsWaitedFor TestTrap_T101_ManyGoroutinesOnOneSandbox", ""},
	{102, "a sandbox that was replaced", "TestTrap_T102_AReplacedSandboxHasAnotherID TestTrap_T102_AReplacedAccountIsTold", ""},
	{103, "leaving is not cancelling", "TestTrap_T103_ACallerWhoLeavesHasNotCancelled TestTrap_T103_ACallerWhoLeavesIsToldLater", ""},
	{104, "what only live accounts have", "TestEveryOperationHasOneMethod", ""},
	{105, "the contract moves", "TestEveryOperationHasOneMethod", ""},
	{106, "a price missing is the market's own", "TestTrap_T106_APriceMissingIsTheMarketsOwn TestAMarkThatIsLostIsLostAlone", ""},
	{107, "runs lists the finished ones", "TestTrap_T107_RunningAndFinishedRuns", ""},
	{108, "lists without an order", "TestTrap_T108_PositionsAreFoundByMarket", ""},
}

var trapNumber = regexp.MustCompile(`(?:\b|_)T([0-9]+)(?:\b|_)`)

// Every trap is in the list, and every test that is said to show one exists and
// names it: in its own name, in its comment, or in the name of a row.
func TestTrapsAreShown(t *testing.T) {
	mentions := map[string]string{} // test to the text that can name a trap
	shown := map[string]bool{}      // numbers that a test is named for
	for _, name := range sources(t, true) {
		if name == "traps_test.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			text := fn.Name.Name + "\n" + fn.Doc.Text()
			ast.Inspect(fn, func(node ast.Node) bool {
				if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					text += "\n" + literal.Value
				}
				return true
			})
			mentions[fn.Name.Name] += text
			if number, ok := strings.CutPrefix(fn.Name.Name, "TestTrap_"); ok {
				number, _, _ = strings.Cut(number, "_")
				shown[number] = true
			}
		}
	}
	names := func(text, number string) bool {
		for _, match := range trapNumber.FindAllStringSubmatch(text, -1) {
			if "T"+match[1] == number {
				return true
			}
		}
		return false
	}

	require.Len(t, traps, 108)
	for i, trap := range traps {
		require.Equal(t, i+1, trap.number)
		number := "T" + strconv.Itoa(trap.number)
		assert.NotEqual(t, trap.shown == "", trap.why == "", "%s: tests, or a reason why there are none", number)
		for _, test := range strings.Fields(trap.shown) {
			text, ok := mentions[test]
			if assert.True(t, ok, "%s: there is no %s", number, test) {
				assert.True(t, names(text, number), "%s: %s does not name it", number, test)
			}
		}
		if shown[number] {
			assert.NotEmpty(t, trap.shown, "%s has a test now: put its name here instead of the reason", number)
		}
	}
}

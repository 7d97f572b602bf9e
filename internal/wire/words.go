package wire

// commonWord returns the constant that text spells, empty if it is none of the
// words that answers are full of: each would be a small allocation otherwise.
func commonWord(text []byte) string {
	switch string(text) {
	case "long":
		return "long"
	case "short":
		return "short"
	case "market":
		return "market"
	case "limit":
		return "limit"
	case "stop_loss":
		return "stop_loss"
	case "take_profit":
		return "take_profit"
	case "opened":
		return "opened"
	case "sandbox":
		return "sandbox"
	case "live":
		return "live"
	case "healthy":
		return "healthy"
	case "active":
		return "active"
	case "ACTIVE":
		return "ACTIVE"
	case "FUNDED":
		return "FUNDED"
	case "BTC":
		return "BTC"
	case "ETH":
		return "ETH"
	}
	return ""
}

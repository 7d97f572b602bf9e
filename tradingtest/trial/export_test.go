package trial

// PlayVirtually plays a scene in a bubble, and fails no test over what the bot does.
var PlayVirtually = playVirtually

// KilledInPart is what a kill notes that leaves a part of the bot.
const KilledInPart = killedInPart

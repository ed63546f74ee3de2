package audit

// Action is what an entry says was done: one of Actions; for a command to a robot, ActionCommand and its verb; for a refused
// request that only reads, the id of the operation in words; for a path that the API does not have, the HTTP method.
type Action string

const (
	ActionStop                  Action = "stop"
	ActionRelease               Action = "release"
	ActionCommand               Action = "command"
	ActionCancel                Action = "cancel"
	ActionAssign                Action = "assign"
	ActionWithdraw              Action = "withdraw"
	ActionRevert                Action = "revert"
	ActionDesired               Action = "desired"
	ActionRollout               Action = "rollout"
	ActionRolloutStart          Action = "rollout start"
	ActionRolloutPause          Action = "rollout pause"
	ActionRolloutResume         Action = "rollout resume"
	ActionRolloutRetry          Action = "rollout retry"
	ActionRolloutAbort          Action = "rollout abort"
	ActionRolloutRollback       Action = "rollout rollback"
	ActionRolloutApprove        Action = "rollout approve"
	ActionRolloutAdvance        Action = "rollout advance"
	ActionRolloutEnd            Action = "rollout end"
	ActionPin                   Action = "pin"
	ActionUnpin                 Action = "unpin"
	ActionPolicy                Action = "policy"
	ActionPolicyDelete          Action = "policy delete"
	ActionPublishAgain          Action = "publish again"
	ActionClearDefault          Action = "clear default"
	ActionTakeActivity          Action = "take activity"
	ActionShorten               Action = "shorten"
	ActionReissue               Action = "reissue"
	ActionSave                  Action = "save"
	ActionSaveDeleted           Action = "save deleted"
	ActionPublish               Action = "publish"
	ActionDelete                Action = "delete"
	ActionRecover               Action = "recover"
	ActionPut                   Action = "put"
	ActionApplyFolder           Action = "apply folder"
	ActionLabel                 Action = "label"
	ActionAdopt                 Action = "adopt"
	ActionRestoreName           Action = "restore name"
	ActionMakeEnrolmentToken    Action = "make enrolment token"
	ActionEnrol                 Action = "enrol"
	ActionRenew                 Action = "renew"
	ActionRevoke                Action = "revoke"
	ActionDecommission          Action = "decommission"
	ActionDeleteDocuments       Action = "delete documents"
	ActionRemoveRetained        Action = "remove retained"
	ActionAcknowledge           Action = "acknowledge"
	ActionFlightRecord          Action = "flight record"
	ActionDownloadAFlightRecord Action = "download a flight record"
	ActionUser                  Action = "user"
	ActionUserAdd               Action = "user add"
	ActionUserSet               Action = "user set"
	ActionUserPassword          Action = "user password"
	ActionTokenCreate           Action = "token create"
	ActionTokenRevoke           Action = "token revoke"
	ActionLoginAllow            Action = "login allow"
	ActionSignIn                Action = "sign in"
	ActionSignOut               Action = "sign out"
	ActionSessionEnd            Action = "session end"
	ActionSite                  Action = "site"
	ActionSiteMap               Action = "site map"
	ActionSchedule              Action = "schedule"
	ActionScheduleRun           Action = "schedule run"
	ActionBackup                Action = "backup"
	ActionRestoreBackup         Action = "restore backup"
	ActionReceiver              Action = "receiver"
	ActionTestReceiver          Action = "receiver test"
	ActionRoute                 Action = "route"
	ActionNotify                Action = "notify"
	ActionResend                Action = "notification resend"
	ActionRequests              Action = "requests"
	ActionPrune                 Action = "prune"
)

// CommandAction is the action of a command to robots, by its verb group/name.
func CommandAction(verb string) Action { return ActionCommand + Action(" "+verb) }

// ActionRow is one action.
type ActionRow struct {
	Action Action
	Text   string // what it means, in words
}

// Actions lists every action.
var Actions = []ActionRow{
	{ActionStop, "stop robots"},
	{ActionRelease, "release a stop"},
	{ActionCommand, "send a command"},
	{ActionCancel, "cancel a command"},
	{ActionAssign, "assign"},
	{ActionWithdraw, "withdraw"},
	{ActionRevert, "assign again what was before"},
	{ActionDesired, "change what robots shall do"},
	{ActionRollout, "plan a rollout"},
	{ActionRolloutStart, "start a rollout"},
	{ActionRolloutPause, "pause a rollout"},
	{ActionRolloutResume, "let a rollout go on"},
	{ActionRolloutRetry, "offer the content again to robots that failed"},
	{ActionRolloutAbort, "abort a rollout"},
	{ActionRolloutRollback, "give robots back what they had before a rollout"},
	{ActionRolloutApprove, "approve a rollout"},
	{ActionRolloutAdvance, "let the next wave of a rollout begin"},
	{ActionRolloutEnd, "end a rollout whose robots are decided"},
	{ActionPin, "pin what a robot has"},
	{ActionUnpin, "remove a pin"},
	{ActionPolicy, "say which robots have what"},
	{ActionPolicyDelete, "delete a policy"},
	{ActionPublishAgain, "publish again for a robot that has a later revision"},
	{ActionClearDefault, "remove a deleted story from robots"},
	{ActionTakeActivity, "remove a deleted activity from robots"},
	{ActionShorten, "remove a deleted act from its story or activity"},
	{ActionReissue, "publish again after a deletion"},
	{ActionSave, "save a draft"},
	{ActionSaveDeleted, "save a draft of what was deleted"},
	{ActionPublish, "publish"},
	{ActionDelete, "delete"},
	{ActionRecover, "recover what was deleted"},
	{ActionPut, "upload a file"},
	{ActionApplyFolder, "make the fleet as a folder says"},
	{ActionLabel, "change labels"},
	{ActionAdopt, "add a robot to the fleet"},
	{ActionRestoreName, "accept a robot again"},
	{ActionMakeEnrolmentToken, "make the line that enrols a robot"},
	{ActionEnrol, "give a robot its certificate"},
	{ActionRenew, "renew the certificate of a robot"},
	{ActionRevoke, "revoke a certificate"},
	{ActionDecommission, "remove a robot from the fleet"},
	{ActionDeleteDocuments, "delete the documents of a removed robot"},
	{ActionRemoveRetained, "delete a retained message that does not belong there"},
	{ActionAcknowledge, "acknowledge an alert"},
	{ActionFlightRecord, "save a flight record"},
	{ActionDownloadAFlightRecord, "download a recording"},
	{ActionUser, "print a password for the administrator"},
	{ActionUserAdd, "add a user"},
	{ActionUserSet, "change a user"},
	{ActionUserPassword, "set a password"},
	{ActionTokenCreate, "make a token for a program"},
	{ActionTokenRevoke, "end a token"},
	{ActionLoginAllow, "let the command line sign in"},
	{ActionSignIn, "sign in"},
	{ActionSignOut, "sign out"},
	{ActionSessionEnd, "end a session"},
	{ActionSite, "change the hours of a site"},
	{ActionSiteMap, "change the map of a site"},
	{ActionSchedule, "save a schedule"},
	{ActionScheduleRun, "run a schedule"},
	{ActionBackup, "make a backup"},
	{ActionRestoreBackup, "restore the database from a backup"},
	{ActionReceiver, "say where notifications go"},
	{ActionTestReceiver, "send a test notification"},
	{ActionRoute, "say which alerts are sent to whom"},
	{ActionNotify, "send a notification"},
	{ActionResend, "send a notification again"},
	{ActionRequests, "too many requests to list each"},
	{ActionPrune, "remove old entries of the audit"},
}

/** What came of a delivery. */
export type DeliveryOutcome = {
    kind: 'delivered';
    status: number;
} | DeliveryFailure;
/** Why a delivery failed. `message` is shown to the bot and to the operator; it holds no url. */
export interface DeliveryFailure {
    kind: FailureKind;
    message: string;
}
export type FailureKind = 
/** The bot answered, and not with a 2xx. */
'refused' | 'redirected'
/** No answer within 10 seconds. */
 | 'late'
/** No connection, or one that ended before an answer. */
 | 'unreachable'
/** Somebody is there who cannot prove to be the host; nothing was sent. */
 | 'untrusted'
/** What came back is no HTTP. */
 | 'unreadable'
/** The url leads where no webhook may be. */
 | 'not-allowed'
/** We ended it ourselves. */
 | 'abandoned';
/** What the status of the bot's answer means. */
export declare function outcomeOf(status: number): DeliveryOutcome;
/**
 * What an error of a socket, of TLS or of the HTTP parser means. Only its code is kept: a parser's
 * message may carry what it could not read.
 */
export declare function toDeliveryFailure(error: unknown): DeliveryFailure;

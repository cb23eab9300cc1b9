/**
 * How far our clock is surely ahead of the service's, in milliseconds; negative when behind.
 * The answer was dated between our request and its arrival, and the date is cut to the second: a
 * difference that this explains counts as 0.
 * @param date the Date header's value; `sentAt`, `gotAt` our clock, ms since epoch
 * @returns null when there is no valid date
 */
export declare function clockSkewMs(date: string, sentAt: number, gotAt: number): number | null;

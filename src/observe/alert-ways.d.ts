import type { AlertWay } from './alerts.ts';
/**
 * Runs a program for each alert: no shell, no arguments, the alert as one line of JSON on its
 * stdin and its code in `POSTERN_ALERT`.
 * @param file absolute path; told when the program exits with 0
 */
export declare function byCommand(file: string): AlertWay;
/**
 * POSTs each alert as JSON; no redirect is followed, nothing of the answer but its status is read.
 * @param url https, or http on loopback; it may hold a secret
 */
export declare function byUrl(url: {
    reveal(): string;
}): AlertWay;

/** Why a request is turned away before anything else is looked at. */
export interface DoorProblem {
    status: number;
    code: 'bad_request' | 'postern_host_refused' | 'postern_browser_refused';
    /** For people; says what to do. */
    message: string;
}
/**
 * The known hosts beside the loopback names, in the shape that `doorProblem` compares.
 * @param names host names or addresses without a port, in any spelling; an address that means
 *   "every interface" is nobody's name and is left out
 */
export declare function hostNames(names: Iterable<string>): ReadonlySet<string>;
/**
 * Judges a request by its headers alone. Ports are not compared: behind a port mapping they
 * differ from ours, and a rebound name is caught by the name.
 * @param rawHeaders names and values in turn, as node:http gives them
 * @param allowedHosts from `hostNames`; loopback names are always known
 * @returns null when the request may go on
 */
export declare function doorProblem(rawHeaders: readonly string[], allowedHosts: ReadonlySet<string>): DoorProblem | null;
/** The half of `doorProblem` that also holds for health probes, which may use any Host. */
export declare function browserProblem(rawHeaders: readonly string[]): DoorProblem | null;
/** Every value of a header, one a line. `name` in lower case. */
export declare function valuesOf(rawHeaders: readonly string[], name: string): string[];

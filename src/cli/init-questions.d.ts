import type { Sources } from '../config/sources.ts';
import { type Answers, type Given } from './init-answers.ts';
/**
 * Asks what was not answered before.
 * @throws OperatorError `refused` when the person gives up
 */
export declare function askMissing(given: Given, sources: Sources): Promise<Answers>;

import { type RecipientAlgorithm } from './algorithm.ts';
export declare const ECDH: RecipientAlgorithm;

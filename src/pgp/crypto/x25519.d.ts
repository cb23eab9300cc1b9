import { type RecipientAlgorithm } from './algorithm.ts';
export declare const X25519: RecipientAlgorithm;

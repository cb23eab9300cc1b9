/** What an operator reads when a secret key cannot be the bot's. */
import { OperatorError } from '../errors.ts';
import type { UnfitReason } from '../pgp/engine.ts';
/** The refusal for a key that cannot be taken over. */
export declare function unfitKey(reason: UnfitReason): OperatorError;

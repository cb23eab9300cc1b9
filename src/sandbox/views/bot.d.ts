import type { BotState } from '../state.ts';
/** Result of `GET /me`. */
export declare function botView(bot: BotState): Record<string, unknown>;
/** Result of `GET /webhook`. */
export declare function webhookView(bot: BotState): Record<string, unknown>;

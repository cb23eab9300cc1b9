import type { z } from 'zod';
import { PosternError } from '../../errors.ts';
import { type Operation } from '../../rpc/operation.ts';
import type { Phones } from '../phone/phones.ts';
import type { BotState, ChatState, PersonState, StoredMessage } from '../state.ts';
import type { Schedule } from '../seed/schedule.ts';
import type { World } from '../world.ts';
/** What an operation works on. */
export interface ControlContext {
    world: World;
    phones: Phones;
    schedule: Schedule;
}
/**
 * Describes something that the people around a bot, its owner or a tester can do to the sandbox. Its
 * input is an object, which a seed file can spell.
 */
export declare const operation: <I extends z.ZodObject, R>(description: string, input: I, run: Operation<ControlContext, I, R>['run']) => Operation<ControlContext, I, R>;
/** An operation cannot be done: an unknown id, a handle in use, and the like. */
export declare class ControlError extends PosternError {
    readonly code = "bad_control";
}
/** The fields that are not undefined. */
export declare function definedFields<T extends object>(changes: T): {
    [K in keyof T]?: Exclude<T[K], undefined>;
};
export declare function requirePerson({ world }: ControlContext, id: number): PersonState;
export declare function requireBot({ world }: ControlContext, id: number): BotState;
export declare function requireChat({ world }: ControlContext, id: number): ChatState;
export declare function requireMessage(chat: ChatState, id: number): StoredMessage;
/** @throws ControlError unless the account is a member of the chat */
export declare function requireMember(chat: ChatState, userId: number): void;
/** @throws ControlError unless the person is in the chat, has an account, and does not block its bot */
export declare function requireWriter(on: ControlContext, o: {
    userId: number;
    chatId: number;
}): ChatState;

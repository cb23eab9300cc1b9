import { RIGHTS, type BotState, type ChatState, type Membership, type MembershipStatus } from '../state.ts';
import type { World } from '../world.ts';
/** The membership as of now: a restriction that has run out is lifted. */
export declare function membershipOf(world: World, chat: ChatState, id: number): Membership | undefined;
export declare function isAdmin(member: Membership | undefined): boolean;
/** Whether the member holds one of `RIGHTS`; an owner holds them all. */
export declare function hasRight(member: Membership | undefined, right: keyof typeof RIGHTS): boolean;
/** @throws SandboxApiError `blocked_by_user` or `user_gone`, in private chats alone */
export declare function requireReachable(world: World, chat: ChatState, bot: BotState): void;
/** @throws SandboxApiError `forbidden`, `blocked_by_user` or `user_gone`, unless the bot may write */
export declare function requireWritable(world: World, chat: ChatState, bot: BotState): void;
/** A restricted member may not write; in a channel only administrators who may post can. */
export declare function mayWrite(chat: ChatState, member: Membership | undefined): boolean;
/** Adds a member to a group or channel, with a service notice. A member stays as it is. */
export declare function join(world: World, chat: ChatState, o: {
    userId: number;
    status?: MembershipStatus;
    rights?: number;
}): void;
/** Removes a member, with a service notice. Does nothing for an account that is no member. */
export declare function leave(world: World, chat: ChatState, userId: number): void;
/**
 * A membership that begins with the chat's next message. By default owners and administrators hold
 * every right, other members none.
 */
export declare function newMembership(chat: Pick<ChatState, 'nextMessageId'>, status: MembershipStatus, rights?: number): Membership;
/**
 * Ids of the members that one of them may see. Administrators see all. Where the member list is
 * hidden, others see administrators only; a channel can hide its administrators, too.
 */
export declare function visibleMembers(world: World, chat: ChatState, viewerId: number): number[];

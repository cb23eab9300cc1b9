import type { FastifyInstance } from 'fastify';
import { type Control } from './table.ts';
/**
 * The control listener: `POST /<operation>` with its input as JSON gives `{ok: true, result}`;
 * `GET /` lists every operation with what it does and the JSON Schema of its input. No token:
 * whoever reaches the loopback address of this machine may play with the sandbox, web pages may
 * not.
 */
export declare function createControlListener(control: Control): FastifyInstance;

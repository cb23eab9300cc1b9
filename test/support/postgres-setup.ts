/** Of the test files that run against PostgreSQL: no connection outlives one. */
import { afterAll } from 'vitest'
import { closeServer } from './open-store-on-postgres.ts'

afterAll(closeServer)

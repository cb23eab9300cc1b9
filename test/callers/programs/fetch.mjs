import { answerCalls, byFetch } from './node-calls.mjs'

await answerCalls(byFetch(fetch))

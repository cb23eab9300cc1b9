import fetch from 'node-fetch'
import { answerCalls, byFetch } from './node-calls.mjs'

await answerCalls(byFetch(fetch))

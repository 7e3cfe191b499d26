// Goal: on Hyperliquid, where each payment has a nonce that the hub says, a payment is made once, wherever its process is
// killed, whatever its database forgets, and however often it is signed. Who gains by breaking it: a user who is paid twice;
// a user whose payment is taken for made. Method: the desk on an exchange of a stand-in that checks signatures, nonces and
// balances; the hub's own contract on a real node; real PostgreSQL.
import { afterAll, afterEach, beforeAll } from 'vitest'
import { describeKills } from './support/expiringKills.ts'
import { type HyperliquidBench, startHyperliquidBench } from './support/hyperliquidBench.ts'

let bench: HyperliquidBench

beforeAll(async () => {
  bench = await startHyperliquidBench()
}, 60_000)
afterAll(() => bench?.stop())
afterEach(() => bench.garble(undefined))

describeKills(() => bench)

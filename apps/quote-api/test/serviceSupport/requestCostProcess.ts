// Measures prices and quotes in units that do not depend on the machine's speed: calls to chains, and bytes
// allocated by code that V8 does not optimise, so that two runs differ by a hundredth. It prints JSON.
import { setTimeout as pause } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { answerJson } from '@causeway/http'
import { startFaultProxy, startTestNetwork } from '@causeway/localnet'
import { startTestService } from '../fixtures/service.ts'
import { localRequest } from './localRequest.ts'

const rounds = 8
const requestsPerRound = 80
/** Several, because jobs ask chains meanwhile: the least count is that of the request. */
const usersAsked = 6

const blockTimeSeconds = 2
const network = await startTestNetwork({ blockTimeSeconds })
const base = await startFaultProxy({ targetUrl: network.chains.base.url })
const optimism = await startFaultProxy({ targetUrl: network.chains.optimism.url })
const proxies = [base, optimism]
const service = await startTestService(network, { BASE_RPC_URL: base.url, OPTIMISM_RPC_URL: optimism.url })
const constant = Promise.resolve(JSON.stringify({ filler: 'x'.repeat(4_000) }))
service.app.post('/constant', (_request, reply) => answerJson(reply, constant))
await service.listen()

const userOf = (index: number) => `0x${index.toString(16).padStart(40, 'b')}`

async function ask(path: string, user: string, more = 0): Promise<void> {
  const amount = 60_000_000n + BigInt(more * 7_919)
  const payload = localRequest(network, { amount, more: { user, recipient: user } })
  const answer = await service.app.inject({ method: 'POST', url: path, payload })
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.body}`)
}

/** Least number of calls to both chains that a request of one of several users makes, the first time and again. */
async function callsOf(
  path: string,
  firstUser: number,
): Promise<{ readonly first: number; readonly again: number }> {
  const counts: { readonly first: number; readonly again: number }[] = []
  for (let index = 0; index < usersAsked; index += 1) {
    const user = userOf(firstUser + index)
    counts.push({
      first: await callsWhile(() => ask(path, user)),
      again: await callsWhile(() => ask(path, user)),
    })
  }
  return {
    first: Math.min(...counts.map(({ first }) => first)),
    again: Math.min(...counts.map(({ again }) => again)),
  }
}

async function callsWhile(request: () => Promise<unknown>): Promise<number> {
  for (const proxy of proxies) proxy.resetCounters()
  await request()
  return proxies.reduce((sum, proxy) => sum + proxy.counters().calls, 0)
}

const allocatedBytes = () => getHeapStatistics().total_allocated_bytes

/**
 * KiB per request in the middle round, without what the jobs allocate in the same time. On a loaded machine it is less,
 * never more.
 */
async function allocatedKiB(path: string): Promise<number> {
  const perRound: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const [beforeBytes, startedMs] = [allocatedBytes(), performance.now()]
    for (let index = 0; index < requestsPerRound; index += 1) await ask(path, userOf(1), index)
    const byJobs = jobBytesPerMs * (performance.now() - startedMs)
    perRound.push((allocatedBytes() - beforeBytes - byJobs) / requestsPerRound / 1_024)
  }
  return perRound.toSorted((one, other) => one - other)[rounds / 2] ?? Number.NaN
}

const idleMs = 4_000
const blocks = idleMs / 1_000 / blockTimeSeconds
const idleBytes = allocatedBytes()
const idleCalls = await callsWhile(() => pause(idleMs))
const jobBytesPerMs = (allocatedBytes() - idleBytes) / idleMs
const constantKiB = await allocatedKiB('/constant')
const quoteCalls = await callsOf('/quote', 100)
const priceCalls = await callsOf('/price', 200)
// All of them have asked twice by now.
const callsForUsers = (await callsWhile(() => pause(idleMs))) - idleCalls
const costs = {
  quoteCalls,
  priceCalls,
  callsPerUserAndBlock: callsForUsers / blocks / (2 * usersAsked),
  priceKiB: (await allocatedKiB('/price')) - constantKiB,
  quoteKiB: (await allocatedKiB('/quote')) - constantKiB,
}
process.stdout.write(JSON.stringify(costs))
await service.stop()
await Promise.all(proxies.map((proxy) => proxy.stop()))
await network.stop()

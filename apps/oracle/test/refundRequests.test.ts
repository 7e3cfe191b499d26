// Goal: a refund costs its chain no more requests than a fill: both read two transactions of it at once.
// Method: `main.ts` over a real node behind a proxy that counts; orders whose deposit, fill and refund are on
// one chain, each read cold.
import { onchainId } from '@causeway/core'
import { type FaultProxy, startFaultProxy, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callerKey, type OracleProcess, oracleVariables, spawnOracle } from './support/oracleProcess.ts'
import { deposit, native, pay, refundIdOf, signedOrder } from './support/protocolActors.ts'

const amount = parseEther('0.1')
const rounds = [1, 2, 3] as const
let network: TestNetwork
let proxy: FaultProxy
let oracle: OracleProcess

beforeAll(async () => {
  network = await startTestNetwork()
  proxy = await startFaultProxy({ targetUrl: network.chains.base.url })
  oracle = spawnOracle({
    ...oracleVariables(network),
    BASE_RPC_URL: proxy.url,
    // Looks at heads are requests as well: as few as can be.
    FINALITY_CHECK_INTERVAL_MS: '600000',
    HEAD_CHECK_INTERVAL_MS: '1000',
  })
})
afterAll(async () => {
  await oracle?.stop()
  await proxy?.stop()
  await network?.stop()
})

/** Requests that one cold attestation of a deposited and paid order costs the chain. */
async function requestsOf(kind: 'fill' | 'refund', salt: string): Promise<number> {
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has users')
  const signed = await signedOrder(network, {
    salt,
    refundTo: user.address,
    input: { chain: 'base', currency: native, amount },
    output: { chain: 'base', payments: [{ to: user.address, currency: native, amount }] },
  })
  const { orderId, order, orderSignature } = signed
  const deposited = await deposit(network, 'base', user, { currency: native, amount, id: orderId })
  const paid = await pay(network, 'base', {
    orderId,
    payments: [{ to: user.address, currency: native, amount }],
    ...(kind === 'refund' && {
      recordId: refundIdOf(network, signed, { transactionId: deposited, currency: native, amount }),
    }),
  })
  const receipt = await network.chains.base.chain
    .as(user)
    .publicClient.getTransactionReceipt({ hash: deposited })
  const onchainIndex = String(receipt.logs[0]?.logIndex)
  const id = onchainId({ chainId: 'base', transactionId: deposited, onchainIndex })
  const inputs = [{ transactionId: deposited, onchainId: id, inputIndex: 0 }]
  const [path, named] =
    kind === 'fill'
      ? ['solver-fills', { fill: { transactionId: paid } }]
      : ['solver-refunds', { refunds: [{ transactionId: paid, inputIndex: 0, refundIndex: 0 }] }]
  proxy.resetCounters()
  const answer = await fetch(`${await oracle.listening()}/attestations/${path}/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
    body: JSON.stringify({ order, orderSignature, inputs, ...named }),
  })
  const { requests } = proxy.counters()
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ execution: expect.anything() }),
  ])
  return requests
}

test('a refund costs as many requests as a fill', { timeout: 300_000 }, async () => {
  const counts: Record<'fill' | 'refund', number[]> = { fill: [], refund: [] }
  for (const round of rounds) {
    counts.fill.push(await requestsOf('fill', `10${round}`))
    counts.refund.push(await requestsOf('refund', `20${round}`))
  }
  // A look at heads may fall into one of them.
  expect(Math.min(...counts.refund)).toBe(Math.min(...counts.fill))
})

// Goal: the solver turns every signed permit into one deposit, over kill -9 at any moment and lost answers,
// and refuses what it must not send. Method: the solver as `npm start` runs it on real nodes; a scripted
// quote-api lists the permits; the depository's events tell what came of them. CAUSEWAY_FAULTS=1 runs the
// long form.
import {
  encodeSignedDeposit,
  type Hex,
  type PermitKind,
  type PermitTerms,
  permitTypedData,
} from '@causeway/core'
import { depositoryAbi, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshAccount } from './support/paidOrders.ts'
import { type ScriptedItem, startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBench, startSolver, startSolverBench, surviveKills } from './support/solverBench.ts'
import { until } from './support/until.ts'

const kills = process.env['CAUSEWAY_FAULTS'] === '1' ? 20 : 3
const permitsPerKill = 3
const amount = 1_000n
let network: TestNetwork
let bench: SolverBench
let lastItem = 0

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  bench = await startSolverBench(network)
})
afterAll(async () => {
  await bench?.stop()
  await network?.stop()
})

type Permit = { readonly item: ScriptedItem; readonly terms: PermitTerms; readonly signature: Hex }

/** A signature of an account that has nothing but `amount` of USDC, and the item that relays it. */
async function permit(kind: PermitKind, change: object = {}): Promise<Permit> {
  const { permitRouter: router, tokens, chainId } = network.deployment.base
  const payer = network.keys.users[0] ?? freshAccount()
  const owner = freshAccount()
  const fund = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [owner.address, amount] })
  await network.chains.base.chain.send(payer, [{ what: 'funds', to: tokens.USDC, data: fund }])
  const shared = {
    token: tokens.USDC,
    owner: owner.address,
    amount,
    deadlineSeconds: Math.floor(Date.now() / 1_000) + 3_600,
    orderId: generatePrivateKey(),
    domain: { name: 'USD Coin', version: '2', chainId },
    router,
  }
  const terms: PermitTerms = kind === 'eip3009' ? { ...shared, kind } : { ...shared, kind, nonce: 0n }
  const { value: message, ...typed } = permitTypedData(terms)
  const signature = await privateKeyToAccount(owner.privateKey).signTypedData({ ...typed, message })
  lastItem += 1
  const item = {
    id: `00000000-0000-4000-9000-${String(lastItem).padStart(12, '0')}`,
    kind: 'permit',
    payload: {
      orderId: terms.orderId,
      chainId,
      deadline: terms.deadlineSeconds,
      permitRouter: router.contract,
      permitKind: kind,
      token: terms.token,
      owner: terms.owner,
      amount: amount.toString(),
      signature,
      ...change,
    },
  }
  return { item, terms, signature }
}

async function depositsOf(orderId: Hex) {
  const events = await network.chains.base.chain.client.getContractEvents({
    address: network.deployment.base.depository,
    abi: depositoryAbi,
    eventName: 'RelayErc20Deposit',
    fromBlock: 0n,
    strict: true,
  })
  return events.filter(({ args }) => args.id === orderId)
}

describe('permits of the solver', () => {
  test(`become one deposit each through ${kills} kills at random moments, and lost answers`, async () => {
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    const permits: Permit[] = []
    const last = await surviveKills(settings, { work, kills }, async () => {
      for (let count = 0; count < permitsPerKill; count += 1) {
        const signed = await permit(count === 0 ? 'eip2612' : 'eip3009')
        permits.push(signed)
        work.add(signed.item)
      }
    })
    await until('all are deposits', async () => {
      const deposits = await Promise.all(permits.map(({ terms }) => depositsOf(terms.orderId)))
      return deposits.every(({ length }) => length > 0)
    })
    for (const { item, terms } of permits) {
      const deposits = await depositsOf(terms.orderId)
      expect(deposits, `${item.id}\n${last.output()}`).toHaveLength(1)
      expect(deposits[0]?.args.amount).toBe(amount)
      expect(deposits[0]?.args.from.toLowerCase()).toBe(terms.owner)
      expect(new Set(work.reports.get(item.id))).toEqual(new Set([deposits[0]?.transactionHash]))
    }
    expect(work.failures.size).toBe(0)
  }, 1_800_000)

  test('are refused where nothing is to be sent, with the reason', async () => {
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    await startSolver(settings).ready()
    const { depository } = network.deployment.base
    const sentByAnother = await permit('eip3009')
    await network.chains.base.chain.send(network.keys.users[5] ?? freshAccount(), [
      {
        what: 'permit',
        to: sentByAnother.terms.router.contract,
        data: encodeSignedDeposit('eip3009', sentByAnother.terms, sentByAnother.signature),
      },
    ])
    const refused = [
      await permit('eip3009', { deadline: Math.floor(Date.now() / 1_000) - 60 }),
      await permit('eip3009', { permitRouter: depository }),
      await permit('eip3009', { chainId: 1 }),
      await permit('eip3009', { signature: '0x1' }),
      await permit('eip2612', { orderId: generatePrivateKey() }),
      sentByAnother,
    ]
    const items = refused.map(({ item }) => item)
    for (const item of items) work.add(item)
    await until('all are refused', () => items.every(({ id }) => work.failures.has(id)))
    expect(items.map(({ id }) => work.failures.get(id)?.[0])).toEqual([
      'the deadline has passed',
      'the contract is another one',
      "chain 1 is none of this solver's",
      expect.stringContaining('signature'),
      'the transaction would revert',
      'the transaction would revert',
    ])
    expect(work.reports.size).toBe(0)
    expect(await depositsOf(sentByAnother.terms.orderId)).toHaveLength(1)
  }, 200_000)
})

// Goal: the solver turns every signed permit, and every batch of a smart account, into one deposit, over kill -9 at any moment and lost answers,
// and refuses what it must not send. Method: the solver as `npm start` runs it on real nodes; a scripted
// quote-api lists the permits; the depository's events tell what came of them. CAUSEWAY_FAULTS=1 runs the
// long form.

import type { Hex } from '@causeway/core'
import {
  encodeSignedDeposit,
  permitTypedData,
  type TokenPermitKind,
  type TokenPermitTerms,
} from '@causeway/families/rules'
import {
  depositoryAbi,
  signBatch,
  signDelegation,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshAccount } from './support/paidOrders.ts'
import { type ScriptedItem, startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBench, startSolver, startSolverBench, surviveKills } from './support/solverBench.ts'

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

function nextId(): string {
  lastItem += 1
  return `00000000-0000-4000-9000-${String(lastItem).padStart(12, '0')}`
}

type Permit = { readonly item: ScriptedItem; readonly terms: TokenPermitTerms; readonly signature: Hex }

/** A signature of an account that has nothing but `amount` of USDC, and the item that relays it. */
async function permit(kind: TokenPermitKind, change: object = {}): Promise<Permit> {
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
  const terms: TokenPermitTerms = kind === 'eip3009' ? { ...shared, kind } : { ...shared, kind, nonce: 0n }
  const { value: message, ...typed } = permitTypedData(terms)
  const signature = await privateKeyToAccount(owner.privateKey).signTypedData({ ...typed, message })
  const item = {
    id: nextId(),
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
    await waitUntil('all are deposits', async () => {
      const deposits = await Promise.all(permits.map(({ terms }) => depositsOf(terms.orderId)))
      return deposits.every(({ length }) => length > 0)
    })
    for (const { item, terms } of permits) {
      const deposits = await depositsOf(terms.orderId)
      expect(deposits, `${item.id}\n${last.output()}`).toHaveLength(1)
      expect(deposits[0]?.args.amount).toBe(amount)
      expect(deposits[0]?.args.from.toLowerCase()).toBe(terms.owner)
      // On a busy machine one that waited is replaced: the last one that was told is the one that was mined.
      expect(work.reports.get(item.id)?.at(-1)).toBe(deposits[0]?.transactionHash)
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
    await waitUntil('all are refused', () => items.every(({ id }) => work.failures.has(id)))
    expect(items.map(({ id }) => work.failures.get(id)?.[0])).toEqual([
      'the deadline has passed',
      'ORDER_REFUSED: the contract is another one',
      "ORDER_REFUSED: chain 1 is none of this solver's",
      expect.stringContaining('signature'),
      'EXECUTION_REVERTED: the transaction would revert',
      'EXECUTION_REVERTED: the transaction would revert',
    ])
    expect(work.reports.size).toBe(0)
    expect(await depositsOf(sentByAnother.terms.orderId)).toHaveLength(1)
  }, 200_000)
})

type Executed = { readonly item: ScriptedItem; readonly orderId: Hex; readonly owner: Hex }

/** Calls that an account without code signed, with the code that it shall have; it owns `amount` of USDC. */
async function calls(change: object = {}): Promise<Executed> {
  const { tokens, depository, chainId, multicall3 } = network.deployment.base
  const payer = network.keys.users[0] ?? freshAccount()
  const owner = freshAccount()
  const orderId = generatePrivateKey()
  const token = { abi: erc20Abi, functionName: 'transfer', args: [owner.address, amount] } as const
  await network.chains.base.chain.send(payer, [
    { what: 'funds', to: tokens.USDC, data: encodeFunctionData(token) },
  ])
  const approve = { abi: erc20Abi, functionName: 'approve', args: [depository, amount] } as const
  const deposit = {
    abi: depositoryAbi,
    functionName: 'depositErc20',
    args: [owner.address, tokens.USDC, amount, orderId],
  } as const
  const batch = [
    { to: tokens.USDC, value: 0n, data: encodeFunctionData(approve) },
    { to: depository, value: 0n, data: encodeFunctionData(deposit) },
  ]
  const { to, data } = await signBatch(owner.privateKey, batch, { chainId })
  const tuple = await signDelegation(owner.privateKey, chainId)
  const item = {
    id: nextId(),
    kind: 'permit',
    payload: {
      permitKind: 'calls',
      orderId,
      chainId,
      multicall3,
      deadline: Math.floor(Date.now() / 1_000) + 3_600,
      to,
      data,
      authorizationList: [tuple],
      ...change,
    },
  }
  return { item, orderId, owner: owner.address }
}

describe('calls of smart accounts', () => {
  test('become one deposit each through a kill, with the code that their accounts ask for', async () => {
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    const executed: Executed[] = []
    await surviveKills(settings, { work, kills: 1 }, async () => {
      const one = await calls()
      executed.push(one)
      work.add(one.item)
    })
    await waitUntil('all are deposits', async () => {
      const deposits = await Promise.all(executed.map(({ orderId }) => depositsOf(orderId)))
      return deposits.every(({ length }) => length > 0)
    })
    for (const { orderId, owner } of executed) {
      const deposits = await depositsOf(orderId)
      expect(deposits.map(({ args }) => [args.amount, args.from.toLowerCase()])).toEqual([[amount, owner]])
      expect(await network.chains.base.chain.client.getBalance({ address: owner })).toBe(0n)
    }
  }, 400_000)

  test("Q-197: that spend the wallet's tokens, or come for another contract, are refused", async () => {
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    await startSolver(settings).ready()
    const { tokens, fillContract } = network.deployment.base
    const { fillWallet } = network.keys
    const take = { abi: erc20Abi, functionName: 'transfer', args: [freshAccount().address, 1n] } as const
    const forged = [
      await calls({ to: tokens.USDC, data: encodeFunctionData(take), authorizationList: [] }),
      await calls({ multicall3: fillContract }),
      await calls({ multicall3: tokens.USDC, to: tokens.USDC }),
      await calls({ authorizationList: [], data: '0x12345678', to: fillContract }),
    ]
    const before = await usdcOf(fillWallet.address)
    for (const { item } of forged) work.add(item)
    await waitUntil('all are refused', () => forged.every(({ item }) => work.failures.has(item.id)))
    expect(forged.map(({ item }) => work.failures.get(item.id)?.[0])).toEqual([
      'EXECUTION_REVERTED: the transaction would revert',
      'ORDER_REFUSED: the contract is another one',
      'ORDER_REFUSED: the contract is another one',
      'EXECUTION_REVERTED: the transaction would revert',
    ])
    expect([work.reports.size, await usdcOf(fillWallet.address)]).toEqual([0, before])
  }, 200_000)
})

const usdcOf = (holder: Hex) =>
  network.chains.base.chain.client.readContract({
    address: network.deployment.base.tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

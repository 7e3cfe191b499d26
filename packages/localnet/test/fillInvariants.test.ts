// Goal: whatever tokens do and in whatever order fillers pay and close, an id is paid at most once for each of
// them, nothing is paid after its deadline or its closing, and the fill contract keeps nothing. Method: random
// sequences on a real node, each step foretold by three lines of rules.
import { fillContractAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import fc from 'fast-check'
import { encodeFunctionData, erc20Abi, pad, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { testFill as fillOf, randomWord, testCalls } from '../src/contracts/testFill.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'
import { type HostileToken, placeHostileToken, type TokenHabit, tokenHabits } from './support/hostileToken.ts'

const orderId: Hex = `0x${'0d'.repeat(32)}`
/** Under an id of its own, since one order is tried again and again. */
const testFill = (fill: Parameters<typeof fillOf>[0]) => fillOf({ id: randomWord(), ...fill })
const runs = process.env['CAUSEWAY_FAULTS'] === '1' ? { numRuns: 40, steps: 40 } : { numRuns: 1, steps: 24 }
const testTimeoutMs = 1_800_000

let bench: ContractBench<ChainDeployment>
let fillers: readonly LocalAccount[]
let fillContract: Hex
let token: HostileToken

beforeAll(async () => {
  bench = await startUserChainBench()
  const { fillWallet, users } = bench.keys
  fillers = [fillWallet, ...users.slice(0, 2)]
  fillContract = bench.deployment.fillContract
  token = await placeHostileToken(bench, users[2] ?? fillWallet)
  for (const filler of fillers) await token.fund(filler, fillContract)
})
afterAll(() => bench?.stop())

const balancesOf = async (account: Hex) =>
  Promise.all([
    bench.chain.client.getBalance({ address: account }),
    bench.chain.client.readContract({
      address: token.address,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [account],
    }),
  ])

describe('a token that', () => {
  const paying = (to: Hex, amount: bigint) =>
    testFill({ orderId, tokens: [{ token: token.address, to, amount }] })

  test.each([
    ['returns nothing', 'NoReturn', 1_000n],
    ['keeps a fee, which is the payer’s to reckon with', 'Fee', 990n],
    ['calls back somebody who does nothing', 'Callback', 1_000n],
    ['says false of its transfers, as the most used token of Tron does', 'FalseTransfer', 1_000n],
  ] as const)('%s pays', async (_what, habit, arrived) => {
    const [solver] = fillers
    if (solver === undefined) throw new Error('no solver')
    const to = freshAccount().address
    await token.set(habit)
    await bench.send(solver, fillContract, paying(to, 1_000n))
    expect((await balancesOf(to))[1]).toBe(arrived)
    expect(await balancesOf(fillContract)).toEqual([0n, 0n])
  })

  test.each(['ReturnsFalse', 'Paused', 'Blacklist'] as const)(
    '%s pays nothing and leaves the id open',
    async (habit) => {
      const [solver] = fillers
      if (solver === undefined) throw new Error('no solver')
      const to = freshAccount().address
      const id = randomWord()
      const data = testFill({ orderId, id, tokens: [{ token: token.address, to, amount: 5n }] })
      await token.set(habit, to)
      expect(await bench.revert(solver, fillContract, data)).toBe('TokenCallFailed')
      await token.set('None')
      await bench.send(solver, fillContract, data)
      expect((await balancesOf(to))[1]).toBe(5n)
    },
  )
})

type Step = {
  readonly act: 'pay' | 'fill' | 'close'
  readonly filler: number
  readonly id: number
  readonly habit: TokenHabit
  readonly tokens: bigint
  readonly wei: bigint
  readonly isLate: boolean
  readonly isReentered: boolean
}

const stepOf: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('pay', 'pay', 'fill', 'close'),
  filler: fc.nat(2),
  id: fc.nat(3),
  habit: fc.constantFrom(...tokenHabits),
  tokens: fc.bigInt({ min: 0n, max: 200n }),
  wei: fc.bigInt({ min: 0n, max: 9n }),
  isLate: fc.constantFrom(false, false, false, true),
  isReentered: fc.boolean(),
})

test('L-31: an id is paid at most once for each filler, in time, while it is open', {
  timeout: testTimeoutMs,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf, { minLength: runs.steps, maxLength: runs.steps }), async (steps) => {
      const salt = randomWord()
      const idOf = (step: Step): Hex => toHex(BigInt(salt) ^ BigInt(step.id), { size: 32 })
      const records = new Map<string, 'paid' | 'closed'>()
      for (const step of steps) await take(step, { id: idOf(step), records })
    }),
    { numRuns: runs.numRuns },
  )
})

/** Foretells what a step does, and sees it do that. */
async function take(
  step: Step,
  { id, records }: { readonly id: Hex; readonly records: Map<string, 'paid' | 'closed'> },
): Promise<void> {
  const filler = fillers[step.filler]
  if (filler === undefined) throw new Error('no such filler')
  const key = `${filler.address} ${id}`
  const record = records.get(key)
  const to = freshAccount().address
  await token.set(step.habit, to)
  if (step.act === 'close') {
    const data = encodeFunctionData({ abi: fillContractAbi, functionName: 'close', args: [id] })
    if (record === 'paid') {
      expect(await bench.revert(filler, fillContract, data)).toBe('AlreadyPaid')
      return
    }
    await bench.send(filler, fillContract, data)
    records.set(key, 'closed')
    return
  }
  // A hook that pays the same id in its own name, in the middle of it.
  const hook = step.isReentered ? testFill({ orderId, id }) : '0x'
  await token.arm(step.isReentered ? fillContract : pad('0x1', { size: 20 }), hook)
  const { orderCalls } = testCalls([{ to, data: '0x', value: 0n }], {
    fillContract,
    filler: filler.address,
    recipient: to,
    sweptTokens: [],
  })
  const data = testFill({
    orderId,
    id,
    ...(step.isLate && { deadlineSeconds: 1n }),
    ...(step.wei > 0n && { natives: [{ to, amount: step.wei }] }),
    ...(step.tokens > 0n && { tokens: [{ token: token.address, to, amount: step.tokens }] }),
    ...(step.act === 'fill' && { orderCalls }),
  })
  const refusal = refusalOf(step, record)
  if (refusal !== undefined) {
    expect(await bench.revert(filler, fillContract, data, step.wei)).toBe(refusal)
    expect(await balancesOf(to)).toEqual([0n, 0n])
    return
  }
  await bench.send(filler, fillContract, data, step.wei)
  records.set(key, 'paid')
  const arrived = step.habit === 'Fee' ? step.tokens - step.tokens / 100n : step.tokens
  expect(await balancesOf(to)).toEqual([step.wei, arrived])
  expect(await balancesOf(fillContract)).toEqual([0n, 0n])
}

function refusalOf(step: Step, record: 'paid' | 'closed' | undefined): string | undefined {
  if (step.isLate) return 'DeadlinePassed'
  if (record !== undefined) return record === 'paid' ? 'AlreadyPaid' : 'AlreadyClosed'
  if (step.tokens === 0n) return undefined
  const isRefused = step.habit === 'ReturnsFalse' || step.habit === 'Paused' || step.habit === 'Blacklist'
  return isRefused || (step.habit === 'Callback' && step.isReentered) ? 'TokenCallFailed' : undefined
}

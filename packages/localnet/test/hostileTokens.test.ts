// Goal: a token with habits costs nobody but who uses it: each contract pays whole, hands on less by the token's own
// fee, or refuses the whole transaction, and keeps neither a unit nor an allowance. Method: every contract that
// touches tokens times every habit, as deployed, on a real node. Fills and their clones: fillInvariants, orderClones.
import { cleanupRouterAbi, depositoryAbi, depositRouterAbi, permitRouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { permit2Address } from '@causeway/families/rules'
import fc from 'fast-check'
import { decodeFunctionData, encodeFunctionData, erc20Abi, maxUint256, parseAbi, parseEventLogs } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { randomWord } from '../src/contracts/testFill.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'
import { type HostileToken, placeHostileToken, type TokenHabit } from './support/hostileToken.ts'
import {
  type Contract,
  erc20Call,
  type Move,
  movedAmount,
  movingContracts,
  tokenMoves,
} from './support/tokenMoves.ts'

/** Number of sequences; the long form is for the nightly run. */
const [sequences, timeout] = process.env['CAUSEWAY_FAULTS'] === '1' ? [200, 1_800_000] : [8, 120_000]

let bench: ContractBench<ChainDeployment>
let user: LocalAccount
let relayer: LocalAccount
let hostile: HostileToken

beforeAll(async () => {
  bench = await startUserChainBench()
  user = bench.keys.users[0] ?? freshAccount()
  relayer = bench.keys.fillWallet
  hostile = await placeHostileToken(bench, bench.keys.users[1] ?? freshAccount())
  await hostile.fund(user, bench.deployment.depository)
  for (const spender of [bench.deployment.depositRouter, permit2Address])
    for (const token of [usdc(), hostile.address])
      await bench.send(user, token, erc20Call('approve', spender, maxUint256))
})
afterAll(() => bench?.stop())

// Each test starts from a snapshot, so that tokens left at a router by a refused try are no output of the next one.
let snapshot: Hex
beforeEach(async () => {
  snapshot = await bench.chain.node.snapshot()
})
afterEach(() => bench.chain.node.revert({ id: snapshot }))

const usdc = () => bench.deployment.tokens.USDC
const moves = () => tokenMoves({ bench, user, relayer, token: hostile.address })
const read = (token: Hex, functionName: 'balanceOf' | 'allowance', args: readonly Hex[]) => {
  const [holder = token, spender = token] = args
  const contract = { address: token, abi: erc20Abi } as const
  const { client } = bench.chain
  return functionName === 'balanceOf'
    ? client.readContract({ ...contract, functionName, args: [holder] })
    : client.readContract({ ...contract, functionName, args: [holder, spender] })
}

type Outcome = 'whole' | 'less its fee' | 'nothing' | 'refused'
const habits: readonly TokenHabit[] = [
  'None',
  'NoReturn',
  'ReturnsFalse',
  'Paused',
  'Blacklist',
  'Fee',
  'Callback',
]
/** Outcomes that are equal for every contract. */
const everywhere: Partial<Record<TokenHabit, Outcome>> = {
  None: 'whole',
  NoReturn: 'whole',
  Paused: 'refused',
  Blacklist: 'refused',
}
const withFee: Record<Contract, Outcome> = {
  Depository: 'less its fee',
  'Depository, execute': 'less its fee',
  'DepositRouter, swapAndDeposit of it': 'less its fee',
  'DepositRouter, swapAndDeposit into it': 'less its fee',
  'DepositRouter, swapAndPay of it': 'less its fee',
  'DepositRouter, swapAndPay into it': 'less its fee',
  // The order names an amount, and less came to the one that deposits it.
  PermitRouter: 'refused',
  Permit2Router: 'refused',
  'DepositAddresses, sweep': 'less its fee',
  'DepositAddresses, withdraw': 'less its fee',
  CleanupRouter: 'less its fee',
  'CleanupRouter, ViaCall': 'less its fee',
}

const withCallback: Partial<Record<Contract, Outcome>> = {
  // All of it has moved when the token calls: the second time finds nothing to move.
  CleanupRouter: 'whole',
}

const withFalse: Partial<Record<Contract, Outcome>> = {
  // It runs the calls that the allocator signed, whatever they return, as public depositories do.
  'Depository, execute': 'nothing',
}

const cells = movingContracts.flatMap((contract) => habits.map((habit) => ({ contract, habit })))

/** Sends it, and says what came of it. */
async function outcomeOf({ from, to, data, watched, whole }: Move): Promise<Outcome> {
  const before = await read(hostile.address, 'balanceOf', [watched])
  try {
    await bench.chain.client.call({ account: from.address, to, data })
  } catch {
    return 'refused'
  }
  await bench.send(from, to, data)
  const moved = (await read(hostile.address, 'balanceOf', [watched])) - before
  if (moved === whole) return 'whole'
  if (moved === 0n) return 'nothing'
  // A hundredth of each of at most two movements.
  if (moved < whole && moved >= whole - movedAmount / 50n) return 'less its fee'
  throw new Error(`${moved} of ${whole} came`)
}

/** Balances of every contract that hands tokens on, for both tokens. */
async function kept(): Promise<readonly bigint[]> {
  const { depositRouter, permitRouter, permit2Router, depositAddresses, depository, uniswapV3 } =
    bench.deployment
  const routers = [depositRouter, permitRouter.contract, permit2Router, depositAddresses.contract]
  const spenders = [depository, uniswapV3.swapRouter, permit2Address]
  return Promise.all(
    [usdc(), hostile.address].flatMap((token) =>
      routers.flatMap((router) => [
        read(token, 'balanceOf', [router]),
        ...spenders.map((spender) => read(token, 'allowance', [router, spender])),
      ]),
    ),
  )
}

describe('a token with habits', () => {
  test.each(cells)('$habit: $contract', async ({ contract, habit }) => {
    await hostile.set('None')
    const move = await moves()[contract]()
    // Whoever is called by a token while it moves asks for the same once more.
    if (habit === 'Callback') await hostile.arm(move.to, move.data)
    await hostile.set(habit, move.watched)
    const outcome = await outcomeOf(move)
    await hostile.set('None')
    if (habit === 'Fee') expect(outcome).toBe(withFee[contract])
    else if (habit === 'Callback') expect(outcome).toBe(withCallback[contract] ?? 'refused')
    else if (habit === 'ReturnsFalse') expect(outcome).toBe(withFalse[contract] ?? 'refused')
    else expect(outcome).toBe(everywhere[habit])
    expect((await kept()).filter((value) => value !== 0n)).toEqual([])
  })

  test('the depository tells the amount that was named, whatever came', async () => {
    await hostile.set('Fee')
    const { from, to, data } = await moves().Depository()
    const { logs } = await bench.send(from, to, data)
    await hostile.set('None')
    const [event] = parseEventLogs({ abi: depositoryAbi, logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args.amount).toBe(movedAmount)
  })

  test('a permit that calls back brings no other order into this one', async () => {
    await hostile.set('None')
    const { permitRouter } = bench.deployment
    const usersOf = (token: Hex) => tokenMoves({ bench, user, relayer, token }).PermitRouter()
    const [own, other] = [await usersOf(hostile.address), await usersOf(usdc())]
    // 65 bytes: the token is asked for its permit first.
    const { args } = decodeFunctionData({ abi: permitRouterAbi, data: own.data })
    const [signed] = args
    if (typeof signed !== 'object') throw new Error('no deposit')
    const data = encodeFunctionData({
      abi: permitRouterAbi,
      functionName: 'depositWithPermit',
      args: [signed, `0x${'01'.repeat(65)}`],
    })
    const before = await read(usdc(), 'balanceOf', [bench.deployment.depository])
    await hostile.arm(permitRouter.contract, other.data)
    await hostile.set('Callback')
    // The permit is refused, the deposit's own movement calls back too: the whole is.
    await expect(bench.send(own.from, own.to, data)).rejects.toThrow()
    await hostile.set('None')
    expect(await read(usdc(), 'balanceOf', [bench.deployment.depository])).toBe(before)
    await bench.send(own.from, own.to, data)
    await bench.send(other.from, other.to, other.data)
  })

  test('a stranger that it calls empties the cleanup router in between, and who mixed it in bears it', async () => {
    const { cleanupRouter } = bench.deployment
    const [recipient, thief] = [freshAccount().address, freshAccount().address]
    for (const token of [usdc(), hostile.address])
      await bench.send(user, token, erc20Call('transfer', cleanupRouter, movedAmount))
    const steal = encodeFunctionData({
      abi: cleanupRouterAbi,
      functionName: 'cleanupErc20s',
      args: [[usdc()], [thief], [0n]],
    })
    await hostile.arm(cleanupRouter, steal)
    await hostile.set('Callback')
    const data = encodeFunctionData({
      abi: cleanupRouterAbi,
      functionName: 'cleanupErc20s',
      args: [
        [hostile.address, usdc()],
        [recipient, recipient],
        [0n, 0n],
      ],
    })
    await bench.send(relayer, cleanupRouter, data)
    await hostile.set('None')
    expect(await read(usdc(), 'balanceOf', [thief])).toBe(movedAmount)
    expect(await read(usdc(), 'balanceOf', [recipient])).toBe(0n)
  })
})

test('an allowance of the cleanup router is anybody’s, so nobody may be asked for one', async () => {
  const { cleanupRouter } = bench.deployment
  const thief = freshAccount().address
  await bench.send(user, usdc(), erc20Call('approve', cleanupRouter, movedAmount))
  const args = [user.address, thief, movedAmount] as const
  const pull = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args })
  const data = encodeFunctionData({
    abi: cleanupRouterAbi,
    functionName: 'cleanupErc20sViaCall',
    args: [[usdc()], [usdc()], [pull], [0n]],
  })
  await bench.send(relayer, cleanupRouter, data)
  expect(await read(usdc(), 'balanceOf', [thief])).toBe(movedAmount)
})

test('an allowance that a stranger planted blocks no call of the cleanup router, whatever the token changes it from', async () => {
  const { cleanupRouter, depository } = bench.deployment
  const viaCall = (to: Hex, data: Hex) =>
    encodeFunctionData({
      abi: cleanupRouterAbi,
      functionName: 'cleanupErc20sViaCall',
      args: [[hostile.address], [to], [data], [0n]],
    })
  const deposit = encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositErc20',
    args: [user.address, hostile.address, movedAmount, randomWord()],
  })
  await bench.send(user, hostile.address, erc20Call('transfer', cleanupRouter, movedAmount))
  const plant = erc20Call('approve', depository, 1n)
  await bench.send(relayer, cleanupRouter, viaCall(hostile.address, plant))
  expect(await read(hostile.address, 'allowance', [cleanupRouter, depository])).toBe(1n)
  await hostile.set('ApproveFromZero')
  await bench.send(user, cleanupRouter, viaCall(depository, deposit))
  await hostile.set('None')
  expect(await read(hostile.address, 'balanceOf', [cleanupRouter])).toBe(0n)
  expect(await read(hostile.address, 'allowance', [cleanupRouter, depository])).toBe(0n)
})

describe('in whatever order', () => {
  const step = fc.record({
    contract: fc.constantFrom(...movingContracts.filter((name) => !name.startsWith('CleanupRouter'))),
    habit: fc.constantFrom(...habits),
  })

  /** Swaps nothing for whatever lies at the router. */
  function takeWhatLies(token: Hex): Hex {
    const swapData = encodeFunctionData({
      abi: parseAbi(['function refundETH()']),
      functionName: 'refundETH',
    })
    const tokenIn = token === usdc() ? hostile.address : usdc()
    return encodeFunctionData({
      abi: depositRouterAbi,
      functionName: 'swapAndPay',
      args: [
        {
          tokenIn,
          amountIn: 0n,
          tokenOut: token,
          minAmountOut: 0n,
          swapData,
          recipient: thief.address,
          id: randomWord(),
        },
      ],
    })
  }
  const thief = freshAccount()

  test('nothing stays at a router, no stranger gets a unit, and the depository never has less', {
    timeout,
  }, async () => {
    let done = 0
    await bench.chain.node.setBalance({ address: thief.address, value: 10n ** 21n })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        for (const { contract, habit } of steps) {
          await hostile.set('None')
          const move = await moves()[contract]()
          const { depository, depositRouter } = bench.deployment
          const before = await read(hostile.address, 'balanceOf', [depository])
          const usersBefore = await read(hostile.address, 'balanceOf', [user.address])
          if (habit === 'Callback') await hostile.arm(depositRouter, takeWhatLies(usdc()))
          await hostile.set(habit, move.watched)
          await bench.send(move.from, move.to, move.data).then(
            () => {
              done += 1
            },
            () => undefined,
          )
          await hostile.set('None')
          for (const token of [usdc(), hostile.address])
            await bench.send(thief, depositRouter, takeWhatLies(token))
          expect((await kept()).filter((value) => value !== 0n)).toEqual([])
          for (const token of [usdc(), hostile.address])
            expect(await read(token, 'balanceOf', [thief.address])).toBe(0n)
          // The depository may only lose the amount that the allocator signed.
          const paid = contract === 'Depository, execute' ? movedAmount : 0n
          expect(await read(hostile.address, 'balanceOf', [depository])).toBeGreaterThanOrEqual(before - paid)
          const spent = usersBefore - (await read(hostile.address, 'balanceOf', [user.address]))
          expect(spent).toBeLessThanOrEqual(movedAmount)
        }
      }),
      { numRuns: sequences, endOnFailure: true },
    )
    expect(done).toBeGreaterThan(0)
  })

  test('what somebody left at a router is not what a swap of nothing takes', async () => {
    const { depositRouter } = bench.deployment
    await bench.chain.node.setBalance({ address: thief.address, value: 10n ** 21n })
    await bench.send(user, usdc(), erc20Call('transfer', depositRouter, movedAmount))
    await bench.send(thief, depositRouter, takeWhatLies(usdc()))
    expect(await read(usdc(), 'balanceOf', [thief.address])).toBe(0n)
    expect(await read(usdc(), 'balanceOf', [depositRouter])).toBe(movedAmount)
  })
})

// Goal: what the solver pays and oracles do not attest costs a stated sum and no more, and one trick closes no chain.
// Attackers: oracles that are silent, so that nobody knows whether a payment counts; a payment that oracles refuse for
// good, made again and again; a restart, which would forget what is open. Method: the solver as an operator runs it, on
// real nodes with real deposits; a scripted quote-api lists the work, and oracles sign what they are asked.
import { waitUntil, wrappedNativeAbi } from '@causeway/localnet'
import { encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { send } from '../apps/quote-api/test/serviceSupport/callService.ts'
import {
  type StandInOracles,
  startStandInOracles,
} from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import {
  claimItem,
  deposit,
  fillItem,
  freshAddress,
  type Item,
  paidOrder,
  paidOrders,
  refundItem,
} from '../apps/solver/test/support/paidOrders.ts'
import type { startScriptedWork } from '../apps/solver/test/support/scriptedWork.ts'
import { type SolverBed, startSolverBed } from '../apps/solver/test/support/solverBed.ts'
import {
  changedConfigs,
  querySolver,
  runSolverCommand,
  type SolverSettings,
  startSolver,
} from '../apps/solver/test/support/solverBench.ts'

let bed: SolverBed
let oracles: StandInOracles

beforeAll(async () => {
  bed = await startSolverBed()
  oracles = await startStandInOracles()
})
afterAll(async () => {
  await oracles?.stop()
  await bed?.stop()
})
beforeEach(() => oracles.set())

/** A fill of an order pays a thousandth of a dollar. */
const perFill = 1_000
const room = (fills: number) => String(perFill * fills + perFill / 2)

async function start(
  limits: { readonly chain?: string; readonly all?: string; readonly refused?: string },
  overrides: Readonly<Record<string, string>> = {},
) {
  const { chain = room(1_000_000), all = room(1_000_000), refused = '0' } = limits
  const folder = await changedConfigs('solver.local.json', (text) => {
    const file = JSON.parse(text)
    for (const policy of Object.values<object>(file.chains))
      Object.assign(policy, { unattestedMaxMicroUsd: chain })
    return JSON.stringify({ ...file, unattestedMaxMicroUsd: all, refusedMaxMicroUsd: refused })
  })
  const started = await bed.start({
    CONFIG_DIR: folder,
    ORACLES: oracles.setting,
    ORACLES_THRESHOLD: '2',
    ...overrides,
  })
  return { ...started, ...drive(started.work, started.settings) }
}

function drive(work: Awaited<ReturnType<typeof startScriptedWork>>, settings: SolverSettings) {
  const rows = () =>
    querySolver(
      settings,
      'select kind, state, said, micro_usd, traits, asked is null as is_other from payment',
    )
  return {
    rows,
    pay: async (item: Item) => {
      work.add(item)
      await waitUntil('it is paid', () => work.reports.has(item.id))
    },
    /** It is looked at several times, and is neither paid nor refused. */
    waits: async (...items: readonly Item[]) => {
      for (const item of items) work.add(item)
      await new Promise((resolve) => setTimeout(resolve, 7_000))
      for (const { id } of items)
        expect([work.reports.has(id), work.failures.has(id)]).toEqual([false, false])
    },
    states: async () => (await rows()).map(({ kind, state }) => `${kind} ${state}`).sort(),
    status: () => runSolverCommand(settings, ['status']),
  }
}

const usdcFill = async () => fillItem(bed.network, await paidOrder(bed.network))
const nativeFill = async () =>
  fillItem(bed.network, await paidOrder(bed.network, { payments: [{ currency: zeroAddress, amount: 7n }] }))

test('L-20: fills and refunds are attested once they are final, at the prices of their signing', async () => {
  const { pay, states, rows, work } = await start({})
  const [filled, back] = await paidOrders(bed.network, [{}, {}])
  if (!filled || !back) throw new Error('no orders')
  await pay(fillItem(bed.network, filled))
  await pay(refundItem(bed.network, back))
  await expect.poll(states, { timeout: 60_000 }).toEqual(['fill attested', 'refund attested'])
  const asked = new Set(oracles.all.flatMap(({ paths }) => paths))
  expect(asked).toEqual(new Set(['/attestations/solver-fills/v1', '/attestations/solver-refunds/v1']))
  expect((await rows()).map(({ micro_usd: value }) => Number(value) > 0)).toEqual([true, true])
  expect(work.stopped()).toBeNull()
})

test('Q-136, L-20, L-21: without an answer of oracles a chain stops at its limit and says why, refunds go on, and it falls when attested', async () => {
  oracles.set('garbage', 'garbage', 'garbage')
  const { pay, waits, status, settings, solver, work, states } = await start({ chain: room(2) })
  await pay(await usdcFill())
  await pay(await usdcFill())
  const third = await usdcFill()
  await waits(third)
  // The other chain has a limit of its own, and what is paid back is the depositor's.
  await pay(refundItem(bed.network, await paidOrder(bed.network)))
  expect(work.stopped()).toBe('10')
  // Both fills count, against the cap of their chain and that of all.
  await expect
    .poll(() => work.unattested(), { timeout: 30_000 })
    .toMatch(new RegExp(`^0:[1-9]\\d+:${room(1_000_000)},(.*,)?10:[12]\\d{3}:${room(2)}(,|$)`))
  expect(await status()).toMatch(
    /Chain 10, paid and not attested: payments 0\.00\d+ USD \(oracles said last: /,
  )
  const { opsUrl = '' } = /"opsUrl":"(?<opsUrl>[^"]+)"/.exec(solver.output())?.groups ?? {}
  expect((await send(`${opsUrl}/metrics`)).text).toMatch(
    /^solver_unattested_usd\{chain="optimism",figure="payments".*\} 0\.00\d+$/m,
  )
  // A restart forgets nothing.
  solver.kill('SIGKILL')
  await solver.ended
  await startSolver(settings).ready()
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  expect(work.reports.has(third.id)).toBe(false)
  oracles.set()
  await waitUntil('it falls, and the third is paid', () => work.reports.has(third.id))
  await expect
    .poll(states, { timeout: 60_000 })
    .toEqual(['fill attested', 'fill attested', 'fill attested', 'refund attested'])
  await expect.poll(() => work.stopped(), { timeout: 10_000 }).toBeNull()
})

test('L-22: a payment that oracles refuse for good stops its kind alone', async () => {
  const { pay, waits, states, rows, status } = await start({})
  oracles.set('refuses', 'refuses', 'honest')
  await pay(await usdcFill())
  await expect.poll(states, { timeout: 60_000 }).toEqual(['fill refused'])
  oracles.set()
  expect(await rows()).toMatchObject([{ said: 'INSUFFICIENT_FILL', traits: [bed.usdcOf('optimism')] }])
  const more = await usdcFill()
  await waits(more)
  await pay(await nativeFill())
  const weth = bed.network.deployment.optimism.wrappedNative
  const data = encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' })
  await pay(
    fillItem(
      bed.network,
      await paidOrder(bed.network, {
        payments: [{ currency: zeroAddress, amount: 9n }],
        calls: [{ to: weth, value: 9n, data }],
      }),
    ),
  )
  expect(await status()).toMatch(/refused 0\.00\d+ USD/)
})

test('L-22: payments to accounts with code are a kind of their own', async () => {
  const { pay, waits, states } = await start({})
  const contract = freshAddress()
  await bed.network.chains.optimism.chain.node.setCode({ address: contract, bytecode: '0x00' })
  const fill = async (recipient: Hex) => {
    const payments = [{ recipient, currency: zeroAddress, amount: 7n }]
    return fillItem(bed.network, await paidOrder(bed.network, { payments }))
  }
  oracles.set('refuses', 'refuses', 'honest')
  await pay(await fill(contract))
  await expect.poll(states, { timeout: 60_000 }).toEqual(['fill refused'])
  oracles.set()
  await waits(await fill(contract))
  await pay(await fill(freshAddress()))
})

test('L-22: oracles that refuse a payment once, as after a restart, have not refused it for good', async () => {
  const { pay, rows, states } = await start({})
  oracles.set('refuses', 'refuses', 'honest')
  await pay(await usdcFill())
  await expect
    .poll(async () => (await rows())[0]?.['said'], { timeout: 60_000, interval: 100 })
    .toBe('INSUFFICIENT_FILL')
  oracles.set()
  await expect.poll(states, { timeout: 60_000 }).toEqual(['fill attested'])
})

test('L-23: an operator who says go answers for what is open, and the chain goes on; one who names no chain is refused', async () => {
  const { pay, waits, settings, work } = await start(
    { chain: room(1) },
    { ORACLES: '', ORACLES_THRESHOLD: '' },
  )
  await pay(await usdcFill())
  const second = await usdcFill()
  await waits(second)
  await expect(runSolverCommand(settings, ['go', 'optimsim', 'looked'])).rejects.toThrow(
    'expected all or one of',
  )
  await expect(runSolverCommand(settings, ['go', 'optimism'])).rejects.toThrow("argument 'reason'")
  expect(await runSolverCommand(settings, ['go', 'optimism', 'the', 'oracles', 'moved'])).toContain(
    '1 payment ',
  )
  await waitUntil('the second is paid', () => work.reports.has(second.id))
  expect(await runSolverCommand(settings, ['audit', 'list'])).toMatch(/go.*optimism: the oracles moved/)
})

test('L-24: claims and refunds that no oracle attests have figures of their own, and claims stop at the same limit', async () => {
  const { pay, waits, rows, states } = await start({ chain: room(2) })
  const claim = () =>
    claimItem(bed.network, 'base', {
      recipient: freshAddress(),
      currency: bed.usdcOf('base'),
      amount: 1_000n,
    })
  await pay(claim())
  await pay(claim())
  await waits(claim())
  // A second deposit of an order that its fill settled.
  const paid = await paidOrder(bed.network)
  await pay(fillItem(bed.network, paid))
  const [again] = await deposit(bed.network, [paid])
  if (again === undefined) throw new Error('one order is one order')
  await pay(refundItem(bed.network, again))
  await expect
    .poll(states, { timeout: 60_000 })
    .toEqual(['claim paid', 'claim paid', 'fill attested', 'refund paid'])
  const others = (await rows()).filter(({ is_other: isOther }) => isOther).map(({ kind }) => kind)
  expect(others.sort()).toEqual(['claim', 'claim', 'refund'])
})

test('L-12, L-24: attested fills cover the claims of what they owe, once, of their wallet alone, and count nothing', async () => {
  oracles.set('garbage', 'garbage', 'garbage')
  const { pay, waits, rows, states, work } = await start({ chain: room(2) })
  const [app, stranger] = [freshAddress(), freshAddress()]
  // Worth more than the limit.
  const owed = 2n * 10n ** 12n
  const claim = (wallet?: Hex, amount = owed) =>
    claimItem(bed.network, 'base', {
      recipient: freshAddress(),
      currency: zeroAddress,
      amount,
      ...(wallet && { wallet }),
    })
  const appFees = [app, app].map((wallet) => ({ wallet, amount: (owed / 2n).toString() }))
  await pay(fillItem(bed.network, await paidOrder(bed.network), { appFees }))
  // It would fit below the limit, and would count there for good.
  const small = claim(app, owed / 20n)
  await waits(small)
  oracles.set()
  await waitUntil('the claim is paid', () => work.reports.has(small.id))
  await pay(claim(app, owed - owed / 20n))
  await waits(claim(app), claim(stranger), claim())
  await expect.poll(states, { timeout: 60_000 }).toEqual(['claim paid', 'claim paid', 'fill attested'])
  expect((await rows()).filter(({ micro_usd: counted }) => counted === 0n)).toHaveLength(2)
})

test('L-12: without oracles a claim waits for no attestation, and counts up to the limit', async () => {
  const { pay, waits } = await start({ chain: room(2) }, { ORACLES: '', ORACLES_THRESHOLD: '' })
  const wallet = freshAddress()
  const appFees = [{ wallet, amount: (2n * 10n ** 12n).toString() }]
  await pay(fillItem(bed.network, await paidOrder(bed.network), { appFees }))
  const claim = (amount: bigint) =>
    claimItem(bed.network, 'base', { recipient: freshAddress(), currency: zeroAddress, amount, wallet })
  await pay(claim(10n ** 11n))
  await waits(claim(10n ** 12n))
})

test('L-12: a fill that would leave more owed than was deposited is not paid', async () => {
  const { work } = await start({})
  const paid = await paidOrder(bed.network)
  const appFees = [{ wallet: freshAddress(), amount: (10n ** 24n).toString() }]
  const forged = fillItem(bed.network, paid, { appFees })
  work.add(forged)
  await waitUntil('it is refused', () => work.failures.has(forged.id))
  expect(work.failures.get(forged.id)).toContain('it pays more than was deposited')
})

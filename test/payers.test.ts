// Goal: whatever its family, a fill wallet pays each id once and never above its ceiling, wherever its process is killed,
// whatever its database forgets and one endpoint of three says; and what it pays is attested. Who gains by breaking it: a
// user who is paid twice, or whose payment is taken for made. Method: one contract over a fixture per family: desks over
// real PostgreSQL, a real node of an EVM chain, real contracts on Tron and the hub, and stand-ins of the others.
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll } from 'vitest'
import { startBitcoinBench } from '../apps/solver/test/support/bitcoinBench.ts'
import { startHyperliquidBench } from '../apps/solver/test/support/hyperliquidBench.ts'
import { startLighterBench } from '../apps/solver/test/support/lighterBench.ts'
import { startNonceBench } from '../apps/solver/test/support/nonceBench.ts'
import type { PayerBench } from '../apps/solver/test/support/payerBench.ts'
import { startSolanaBench } from '../apps/solver/test/support/solanaBench.ts'
import { openSolverDatabases } from '../apps/solver/test/support/solverDatabases.ts'
import { startTronBench } from '../apps/solver/test/support/tronBench.ts'
import { describePayer } from './payerSupport/describePayer.ts'
import type { PayerFixture, WithoutForm } from './payerSupport/payerCase.ts'

const databases = openSolverDatabases()
const benches: PayerBench[] = []
/** Three families pay on it, or keep there what they pay. */
let network: Promise<TestNetwork> | undefined
const startNetwork = () => {
  network ??= startTestNetwork()
  return network
}
afterAll(async () => {
  await Promise.all(benches.map((bench) => bench.stop()))
  await (await network)?.stop()
})

const ownWallet = 'the recipient is the fill wallet'
const reverts = { paid: 'would revert', closed: 'would revert' }

const families: Readonly<
  Record<string, { start(): Promise<PayerBench>; readonly says: Omit<PayerFixture, 'bench'> }>
> = {
  'ethereum-vm': {
    start: async () => startNonceBench(await startNetwork(), databases),
    says: { amount: 2_000_000n, ceiling: 3_000_000_000n, refusals: { paid: 'revert', closed: 'revert' } },
  },
  'hyperliquid-vm': {
    start: async () => startHyperliquidBench(await startNetwork(), databases),
    says: {
      amount: 2_000_000n,
      ceiling: 99_999_999n,
      refusals: { ...reverts, ownWallet, dear: 'an account takes more than maxFeePerGasWei' },
    },
  },
  'lighter-vm': {
    start: () => startLighterBench(databases),
    says: {
      amount: 2_000_000n,
      ceiling: 2_999_999n,
      refusals: { ...reverts, ownWallet, dear: 'a transfer takes more than maxFeePerGasWei' },
    },
  },
  'solana-vm': {
    start: () => startSolanaBench(databases),
    says: { amount: 2_000_000n, ceiling: 10n, refusals: { ...reverts, ownWallet } },
  },
  'bitcoin-vm': {
    start: () => startBitcoinBench(databases),
    says: {
      amount: 2_000_000n,
      ceiling: 1_500n,
      refusals: { paid: 'it is paid', closed: 'it is closed', ownWallet },
    },
  },
  'tron-vm': {
    start: async () => startTronBench(await startNetwork(), databases),
    says: {
      amount: 2_000_000n,
      ceiling: 99n,
      refusals: { ...reverts, ownWallet, dear: 'energy costs more than maxFeePerGasWei' },
    },
  },
}

const shown = 'what the exchange shows is final'
const inOrder = 'what stands behind another one waits for it'
const withoutForm: Readonly<Record<string, WithoutForm>> = {
  'ethereum-vm': {
    'payments beside a stuck one': inOrder,
    'own wallets refused': 'judges refuse them, by the payees of a chain',
  },
  'hyperliquid-vm': { 'blocks that are replaced': shown },
  'lighter-vm': {
    'blocks that are replaced': shown,
    'equal refunds of one order': 'a transfer names its order, so that two of one amount are one',
  },
  'bitcoin-vm': {
    'payments beside a stuck one': inOrder,
    'invented payments': 'what marks a payment is in its bytes, and these are hashed',
    'clocks of endpoints': 'the time is in headers, and these are hashed',
  },
}

for (const [family, { start, says }] of Object.entries(families)) {
  const begin = async () => {
    const bench = await start()
    benches.push(bench)
    return { ...says, bench }
  }
  describePayer(family, begin, withoutForm[family] ?? {})
}

import { startTronBench } from '../../apps/solver/test/support/tronBench.ts'
import { describePayer } from '../payerSupport/describePayer.ts'
import { ownWallet, reverts } from '../payerSupport/payerCase.ts'

describePayer('tron-vm', {
  start: async ({ databases, network }) => startTronBench(await network(), databases),
  amount: 2_000_000n,
  ceiling: 99n,
  refusals: { ...reverts, ownWallet, dear: 'energy costs more than maxFeePerGasWei' },
})

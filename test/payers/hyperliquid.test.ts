import { startHyperliquidBench } from '../../apps/solver/test/support/hyperliquidBench.ts'
import { describePayer } from '../payerSupport/describePayer.ts'
import { ownWallet, reverts, shownIsFinal } from '../payerSupport/payerCase.ts'

describePayer('hyperliquid-vm', {
  start: async ({ databases, network }) => startHyperliquidBench(await network(), databases),
  amount: 2_000_000n,
  ceiling: 99_999_999n,
  refusals: { ...reverts, ownWallet, dear: 'an account takes more than maxFeePerGasWei' },
  withoutForm: {
    'blocks that are replaced': shownIsFinal,
  },
})

import { startLighterBench } from '../../apps/solver/test/support/lighterBench.ts'
import { describePayer } from '../payerSupport/describePayer.ts'
import { ownWallet, reverts, shownIsFinal } from '../payerSupport/payerCase.ts'

describePayer('lighter-vm', {
  start: ({ databases }) => startLighterBench(databases),
  amount: 2_000_000n,
  ceiling: 2_999_999n,
  refusals: { ...reverts, ownWallet, dear: 'a transfer takes more than maxFeePerGasWei' },
  withoutForm: {
    'blocks that are replaced': shownIsFinal,
    'equal refunds of one order': 'a transfer names its order, so that two of one amount are one',
  },
})

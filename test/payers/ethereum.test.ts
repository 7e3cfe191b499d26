import { startNonceBench } from '../../apps/solver/test/support/nonceBench.ts'
import { describePayer } from '../payerSupport/describePayer.ts'

describePayer('ethereum-vm', {
  start: async ({ databases, network }) => startNonceBench(await network(), databases),
  amount: 2_000_000n,
  ceiling: 3_000_000_000n,
  refusals: { paid: 'revert', closed: 'revert' },
  withoutForm: {
    'payments beside a stuck one': 'what stands behind another one waits for it',
    'own wallets refused': 'judges refuse them, by the payees of a chain',
  },
})

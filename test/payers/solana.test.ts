import { startSolanaBench } from '../../apps/solver/test/support/solanaBench.ts'
import { describePayer } from '../payerSupport/describePayer.ts'
import { ownWallet, reverts } from '../payerSupport/payerCase.ts'

describePayer('solana-vm', {
  start: ({ databases }) => startSolanaBench(databases),
  amount: 2_000_000n,
  ceiling: 10n,
  refusals: { ...reverts, ownWallet },
})

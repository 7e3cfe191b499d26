import { startBitcoinBench } from '../../apps/solver/test/support/bitcoinBench.ts'
import { describePayer } from '../payerSupport/describePayer.ts'
import { ownWallet } from '../payerSupport/payerCase.ts'

describePayer('bitcoin-vm', {
  start: ({ databases }) => startBitcoinBench(databases),
  amount: 2_000_000n,
  ceiling: 1_500n,
  refusals: { paid: 'it is paid', closed: 'it is closed', ownWallet },
  withoutForm: {
    'payments beside a stuck one': 'what stands behind another one waits for it',
    'invented payments': 'what marks a payment is in its bytes, and these are hashed',
    'clocks of endpoints': 'the time is in headers, and these are hashed',
  },
})

// Goal: deposits to the EVM depository are what the protocol says they are, and a withdrawal is executed, expired or
// pending exactly as the depository and the clock of final blocks say, on every network that runs it. Method: one contract
// over the real contracts on a real node, seen as each network shows them; events that no honest contract emits come from
// one that emits whatever it is told. @source rules F-123 to F-125, P-106
import { describeDeposits } from '../readerSupport/depository/describeDeposits.ts'
import { describePayments } from '../readerSupport/depository/describePayments.ts'
import { describeWithdrawals } from '../readerSupport/depository/describeWithdrawals.ts'
import { startEthereumDepository } from './ethereumSupport/depository.ts'
import { startTronDepository } from './tronSupport/depository.ts'

const networks = { 'ethereum-vm': startEthereumDepository, 'tron-vm': startTronDepository }

for (const [family, start] of Object.entries(networks)) {
  describeDeposits(family, start)
  describeWithdrawals(family, start)
  describePayments(family, start)
}

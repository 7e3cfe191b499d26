import { ConfigurationError, maxBigint } from '@causeway/core'
import { connectByJsonRpc, type QuotingChainFamily } from '../../shared/quotingChain.ts'
import { readHead } from '../agreement/head.ts'
import { ethereumSignedDeposits } from '../deposits/ethereumSignedDeposits.ts'
import { floorGas } from '../paying/tryTransaction.ts'
import { readEthereumFacts } from '../reading/networkFacts.ts'
import { callUnitsOf } from '../rules/quoting/dearerState.ts'
import { createAccountCodeReader } from '../simulation/accountCode.ts'
import { createFillSimulator } from '../simulation/fillSimulation.ts'
import { createInputLocks } from '../simulation/inputLocks.ts'
import { createPaymentTrials } from '../simulation/paymentTrial.ts'
import { createCallSimulator } from '../simulation/simulateCalls.ts'
import { createUserFactsReader } from '../simulation/userFacts.ts'

const lacksNothing = Promise.resolve({})
/** Simulations of payments that may run at once: each request with a new recipient needs one. */
const paymentsMax = 200

/** Reads for quotes on EVM chains: accounts by multicall, payments and calls by simulation. */
export const ethereumQuotingChain: QuotingChainFamily = {
  connect: (chain) => connectByJsonRpc(chain),
  headSeconds: async (client) => (await readHead(client)).timestampSeconds,
  networkFacts: readEthereumFacts,
  signedDeposits: ethereumSignedDeposits,
  open({ client, multicall3, currentHead, budgetMs, neededWithinMs, transactionGasMax, now, onFailure }) {
    if (multicall3 === undefined)
      throw new ConfigurationError(`quote: chains.${client.chainId} needs multicall3`)
    const optionalBudget = { budgetMs }
    const facts = createUserFactsReader({ client, multicall3, currentHead, onFailure })
    const neededBudget = { budgetMs: neededWithinMs }
    const locks = { client, multicall3, currentHead, timeoutMs: neededWithinMs, now, onFailure }
    const lockOf = createInputLocks(locks)
    const code = createAccountCodeReader({ client, currentHead, onFailure, callTimeoutMs: neededWithinMs })
    const gasLimitOption = transactionGasMax !== undefined && { gasMax: transactionGasMax }
    const simulatorOptions = { client, now, ...gasLimitOption, currentBlock: () => currentHead()?.number }
    const fills = createFillSimulator({ client, simulator: createCallSimulator(simulatorOptions) })
    const payments = createFillSimulator({
      client,
      simulator: createCallSimulator({
        ...simulatorOptions,
        timeoutMs: neededWithinMs,
        inFlightMax: paymentsMax,
      }),
      timeoutMs: neededWithinMs,
    })
    const tryPayment = createPaymentTrials({ code, fills: payments, now, onFailure })
    return {
      async userFacts(question) {
        const { isMoveRefused, ...read } = await facts.read(question, optionalBudget)
        const inputLock = isMoveRefused && (await lockOf(question))
        return { ...read, ...(inputLock && { inputLock }) }
      },
      // An EVM account needs no token account or rent to receive money.
      lackOf: () => lacksNothing,
      hasCode: (account) => code.hasCode(account, neededBudget),
      tryPayment: (payment) => tryPayment(payment, neededBudget),
      unitsOfCalls: async (fill) =>
        callUnitsOf(maxBigint(await fills.gasOfFill(fill), floorGas(fill.data)), {
          isNative: fill.token === undefined,
          hasCalls: fill.hasCalls,
          dearer: fill.dearer,
        }),
    }
  },
}

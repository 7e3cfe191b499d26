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
/** Payments that are tried at once: one for each request that names somebody new. */
const paymentsMax = 200

/** Accounts by multicall and by agreement, calls by simulation. */
export const ethereumQuotingChain: QuotingChainFamily = {
  connect: (chain) => connectByJsonRpc(chain),
  headSeconds: async (client) => (await readHead(client)).timestampSeconds,
  networkFacts: readEthereumFacts,
  signedDeposits: ethereumSignedDeposits,
  open({ client, multicall3, currentHead, budgetMs, neededWithinMs, transactionGasMax, now, onFailure }) {
    if (multicall3 === undefined)
      throw new ConfigurationError(`quote: chains.${client.chainId} needs multicall3`)
    const budget = { budgetMs }
    const facts = createUserFactsReader({ client, multicall3, currentHead, onFailure })
    const needed = { budgetMs: neededWithinMs }
    const locks = { client, multicall3, currentHead, timeoutMs: neededWithinMs, now, onFailure }
    const lockOf = createInputLocks(locks)
    const code = createAccountCodeReader({ client, currentHead, onFailure, callTimeoutMs: neededWithinMs })
    const gasMax = transactionGasMax !== undefined && { gasMax: transactionGasMax }
    const state = { client, now, ...gasMax, currentBlock: () => currentHead()?.number }
    const fills = createFillSimulator({ client, simulator: createCallSimulator(state) })
    const payments = createFillSimulator({
      client,
      simulator: createCallSimulator({ ...state, timeoutMs: neededWithinMs, inFlightMax: paymentsMax }),
      timeoutMs: neededWithinMs,
    })
    const tryPayment = createPaymentTrials({ code, fills: payments, now, onFailure })
    return {
      async userFacts(question) {
        const { isMoveRefused, ...read } = await facts.read(question, budget)
        const inputLock = isMoveRefused && (await lockOf(question))
        return { ...read, ...(inputLock && { inputLock }) }
      },
      // Balances need no state of the account that holds them.
      lackOf: () => lacksNothing,
      hasCode: (account) => code.hasCode(account, needed),
      tryPayment: (payment) => tryPayment(payment, needed),
      unitsOfCalls: async (fill) =>
        callUnitsOf(maxBigint(await fills.gasOfFill(fill), floorGas(fill.data)), {
          isNative: fill.token === undefined,
          hasCalls: fill.hasCalls,
          dearer: fill.dearer,
        }),
    }
  },
}

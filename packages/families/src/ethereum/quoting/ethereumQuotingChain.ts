import { ConfigurationError, type MaybePromise, mapMaybe, maxBigint } from '@causeway/core'
import {
  connectByJsonRpc,
  type QuotingChainFamily,
  type QuotingChainOptions,
  type UserFacts,
} from '../../shared/quotingChain.ts'
import { readHead } from '../agreement/head.ts'
import { ethereumSignedDeposits } from '../deposits/ethereumSignedDeposits.ts'
import { floorGas } from '../paying/tryTransaction.ts'
import { readEthereumFacts } from '../reading/networkFacts.ts'
import { callUnitsOf } from '../rules/quoting/dearerState.ts'
import { createAccountCodeReader } from '../simulation/accountCode.ts'
import { createFillSimulator, type FillSimulator } from '../simulation/fillSimulation.ts'
import { createInputLocks } from '../simulation/inputLocks.ts'
import { createPaymentTrials } from '../simulation/paymentTrial.ts'
import { createCallSimulator } from '../simulation/simulateCalls.ts'
import { createUserFactsReader, type ReadFacts } from '../simulation/userFacts.ts'

const lacksNothing = {}
/** Simulations of payments that may run at once: each request with a new recipient needs one. */
const paymentsMax = 200

/** Reads for quotes on EVM chains: accounts by multicall, payments and calls by simulation. */
export const ethereumQuotingChain: QuotingChainFamily = {
  connect: (chain) => connectByJsonRpc(chain),
  headSeconds: async (client) => (await readHead(client)).timestampSeconds,
  networkFacts: readEthereumFacts,
  signedDeposits: ethereumSignedDeposits,
  open(options) {
    const { client, multicall3, currentHead, budgetMs, neededWithinMs, now, onFailure } = options
    if (multicall3 === undefined)
      throw new ConfigurationError(`quote: chains.${client.chainId} needs multicall3`)
    // A quote can do without facts of the user, but not without knowing whether the payee accepts the payment.
    const optionalBudget = { budgetMs }
    const neededBudget = { budgetMs: neededWithinMs }
    const facts = createUserFactsReader({ client, multicall3, currentHead, onFailure })
    const lockOptions = { client, multicall3, currentHead, timeoutMs: neededWithinMs, now, onFailure }
    const findInputLock = createInputLocks(lockOptions)
    const code = createAccountCodeReader({ client, currentHead, onFailure, callTimeoutMs: neededWithinMs })
    const { fillsWithCalls, payments } = createFillSimulators(options)
    const tryPayment = createPaymentTrials({ code, fills: payments, now, onFailure })
    return {
      userFacts(question) {
        const read = facts.read(question, optionalBudget)
        return read instanceof Promise ? read.then(withLock) : withLock(read)

        function withLock(userFacts: ReadFacts): MaybePromise<UserFacts> {
          if (userFacts.isMoveRefused !== true) return userFacts
          // By one endpoint, the token refused a transfer of 0 from the user; enough of them must confirm the lock.
          return mapMaybe(findInputLock(question), (inputLock) =>
            inputLock === undefined ? userFacts : { ...userFacts, inputLock },
          )
        }
      },
      // An EVM account needs no token account or rent to receive money.
      lackOf: () => lacksNothing,
      hasCode: (account) => code.hasCode(account, neededBudget),
      tryPayment: (payment) => tryPayment(payment, neededBudget),
      async unitsOfCalls(fill) {
        // Chains charge at least a floor for calldata (EIP-7623), which a simulation may leave out.
        const fillUnits = maxBigint(await fillsWithCalls.gasOfFill(fill), floorGas(fill.data))
        const { hasCalls, dearer } = fill
        return callUnitsOf(fillUnits, { isNative: fill.token === undefined, hasCalls, dearer })
      },
    }
  },
}

/**
 * Simulators of two purposes, each with its own limits, so that neither delays the other: fills of orders with calls,
 * by the simulator's default limits, and payments that a recipient may refuse, by those of `paymentOptions`.
 */
function createFillSimulators({
  client,
  currentHead,
  neededWithinMs: timeoutMs,
  transactionGasMax,
  now,
}: QuotingChainOptions): Readonly<Record<'fillsWithCalls' | 'payments', FillSimulator>> {
  const simulatorOptions = {
    client,
    now,
    ...(transactionGasMax !== undefined && { gasMax: transactionGasMax }),
    currentBlock: () => currentHead()?.number,
  }
  const paymentOptions = { ...simulatorOptions, timeoutMs, inFlightMax: paymentsMax }
  return {
    fillsWithCalls: createFillSimulator({ client, simulator: createCallSimulator(simulatorOptions) }),
    payments: createFillSimulator({ client, simulator: createCallSimulator(paymentOptions), timeoutMs }),
  }
}

import type { Hex } from '@causeway/core'
import { ConfigurationError } from '@causeway/core'
import { z } from 'zod'
import type { EncodedTransaction, StepIdentity } from '../../../rules/encodedStep.ts'
import { FeeFundsError } from '../../../rules/feeFunds.ts'
import type { NetworkFees } from '../../../rules/networkFees.ts'
import type { OriginRoute, QuotedCurrency } from '../../../rules/originRoute.ts'
import type { KnownState, PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainQuoting, QuotingFamily } from '../../../rules/quotingFamily.ts'
import { programAddressing } from '../depositAddress.ts'
import {
  deriveProgramAddresses,
  isSolanaKey,
  type SolanaDepository,
  type SolanaToken,
} from '../programAddresses.ts'
import { placeholderUser, reservedAccount, systemProgram, tokenProgram } from '../programs.ts'
import {
  createTokenAccount,
  depositCoin,
  depositToken,
  isSigner,
  isWritable,
  type SolanaInstruction,
  sendCoin,
  sendToken,
  unitBid,
} from './instructions.ts'
import { SolanaFees } from './solanaFees.ts'
import { checkSize } from './transactionSize.ts'

/**
 * Step data: instructions to compile and sign; keys in base58, data in hex without `0x`.
 * @source github.com/relayprotocol/relay-kit, relay-svm-wallet-adapter
 */
export const solanaStepData = z.object({
  instructions: z.array(
    z.object({
      keys: z.array(z.object({ pubkey: z.string(), isSigner: z.boolean(), isWritable: z.boolean() })),
      programId: z.string(),
      data: z.string(),
    }),
  ),
  addressLookupTableAddresses: z.array(z.string()),
})

/**
 * Solana in quotes. A user signs one transaction whose instruction calls the depository; if somebody else pays the fee,
 * an instruction before it creates the vault's token account. @source rules Q-quote-req-12, F-98
 */
export const solanaQuoting = {
  feeModel: 'priority-fee',
  // The setting of the quote file that gives a chain deposit addresses.
  addressSetting: 'depositAddressProgram',
  reserved: reservedAccount,
  // Accounts that nobody holds, so that nothing is refunded to them.
  burnt: [placeholderUser, systemProgram],
  stepData: solanaStepData,
  bind: ({ codec, chainKey, depository: program, depositAddressProgram }): ChainQuoting => {
    if (depositAddressProgram !== undefined && !codec.isAddress(depositAddressProgram))
      throw new ConfigurationError(`quote: chains.${chainKey}.depositAddressProgram is no address`)
    let derived: SolanaDepository | undefined
    const depository = () => {
      derived ??= { program, addresses: deriveProgramAddresses(program) }
      return derived
    }
    return {
      // The placeholder has the form of a wallet: a page that knows no wallet yet sees the price that a wallet would get.
      // It is `burnt` above for refunds alone, which would be lost there.
      isNobody: (address) => address === codec.nativeCurrency,
      canSign: isSolanaKey,
      amountMax: () => 2n ** 64n - 1n,
      ...(depositAddressProgram !== undefined && {
        depositAddresses: programAddressing(depositAddressProgram, depository),
      }),
      // Fills run no calls, and nothing is paid to accounts of programs.
      runsCalls: false,
      paysTokensToCode: false,
      // Routes that users execute alone get a price, but no quote: no `call` of a step would identify them.
      tellsCallsApart: false,
      // Orders name their solver under another chain, since accounts of this family are no 20-byte keys.
      namesSolvers: false,
      hexAddress: () => {
        throw new Error('accounts of this family are no 20 bytes')
      },
      // No payment needs an allowance, and no cost depends on balances that are read before pricing.
      spenderOf: () => undefined,
      touched: () => [],
      plan: (route, state) => [refuseUnfunded(plan(depository(), route, state), route, state)],
      encode: (transaction, route, bound) => encode(depository(), transaction, route, bound),
      addressSwap: () => undefined,
      encodeAddressSwap: () => {
        throw new Error('nothing is swapped on this family')
      },
    }
  },
} satisfies QuotingFamily

/** The user's one transaction. @throws SolanaTransactionTooLargeError */
function plan(
  depository: SolanaDepository,
  route: OriginRoute,
  { recipientLack }: KnownState,
): PlannedTransaction {
  const { by, currencyIn, depositFeePayer } = route
  const { isNative } = currencyIn
  const signatures = depositFeePayer === undefined ? 1 : 2
  switch (by) {
    case 'deposit':
    case 'deposit-transfer': {
      if (route.swap !== undefined) throw new Error('nothing is swapped on this family')
      checkSize(route.depositFeePayer ?? route.user, depositInstructions(depository, route, noOrder))
      // No rent is planned: a check at start made sure that the vault has its token account.
      return { kind: 'deposit', isNative, signatures }
    }
    case 'pay-address':
      // A deposit address is new, so the payer creates its token account.
      return {
        kind: 'pay-address',
        isNative,
        signatures,
        ...(!isNative && { lack: { stateBytes: tokenAccountBytes } }),
      }
    case 'send':
      if (isNative) return { kind: 'send-input', isNative, signatures }
      // The recipient's token account is created if it is missing, and priced as missing if that is not known.
      return {
        kind: 'send-input',
        isNative,
        signatures,
        lack: recipientLack ?? { stateBytes: tokenAccountBytes },
      }
    default:
      throw new Error(`nothing is deposited by ${by} on this family`)
  }
}

/** Refuses a transaction whose fee payer is known to have too few lamports. @source F-98 */
function refuseUnfunded(
  transaction: PlannedTransaction,
  { by, currencyIn, depositFeePayer }: OriginRoute,
  { fees, feeFunds }: KnownState,
): PlannedTransaction {
  const field = depositFeePayer === undefined ? 'user' : 'depositFeePayer'
  // If the input is SOL, its balance is checked elsewhere. A deposit address may be paid by any wallet.
  const isOfInput = currencyIn.isNative && field === 'user'
  if (feeFunds === undefined || fees === undefined || isOfInput || by === 'pay-address') return transaction
  const needed = fees.costOf(transaction) + fees.rentOf(transaction.lack ?? {})
  if (feeFunds.coin >= needed) return transaction
  return { ...transaction, refusal: new FeeFundsError(field, feeFunds, needed, 'lamports') }
}

/** Bytes of a plain token account. @source SPL Token, Account */
const tokenAccountBytes = 165

/** Stands for the order id until there is one: planning needs only its length. */
const noOrder: Hex = `0x${'00'.repeat(32)}`

function depositInstructions(
  depository: SolanaDepository,
  { user: sender, currencyIn, amountIn: amount, depositFeePayer }: OriginRoute,
  orderId: Hex,
): SolanaInstruction[] {
  const deposit = { sender, amount, orderId }
  if (currencyIn.isNative) return [depositCoin(depository, deposit)]
  const token = tokenOf(currencyIn)
  const depositInstruction = depositToken(depository, token, deposit)
  if (depositFeePayer === undefined) return [depositInstruction]
  // The program charges the sender for a missing account; here the fee payer pays.
  const { vault } = depository.addresses
  return [createTokenAccount(token, { owner: vault, payer: depositFeePayer }), depositInstruction]
}

function tokenOf(currency: QuotedCurrency): SolanaToken {
  return { mint: currency.address, tokenProgram: currency.tokenProgram ?? tokenProgram }
}

/** @throws Error for what was planned from another route */
function instructionsOf(
  depository: SolanaDepository,
  { kind }: PlannedTransaction,
  route: OriginRoute,
  { orderId, depositAddress }: StepIdentity,
): SolanaInstruction[] {
  if (kind === 'send-input') return sendInstructions(route, route.recipient)
  if (kind === 'pay-address' && depositAddress !== undefined) return sendInstructions(route, depositAddress)
  if (kind === 'deposit' && orderId !== undefined) return depositInstructions(depository, route, orderId)
  throw new Error(`no ${kind} is encoded on this family`)
}

/** Sends the input from the user to a recipient, whose token account is created if it is missing. */
function sendInstructions(
  { user, currencyIn, amountIn, depositFeePayer: payer = user }: OriginRoute,
  recipient: string,
): SolanaInstruction[] {
  if (currencyIn.isNative) return [sendCoin({ from: user, to: recipient, amount: amountIn })]
  const token = tokenOf(currencyIn)
  return [
    createTokenAccount(token, { owner: recipient, payer }),
    sendToken(token, { from: user, to: recipient, amount: amountIn }),
  ]
}

/** Step data of a planned transaction. @throws Error for fees of another family, and for another route's transaction */
function encode(
  depository: SolanaDepository,
  transaction: PlannedTransaction,
  route: OriginRoute,
  { identity, fees }: { readonly identity: StepIdentity; readonly fees: NetworkFees },
): EncodedTransaction {
  if (!(fees instanceof SolanaFees)) throw new Error('a step is paid by fees of its own family')
  const { microLamportsPerUnit } = fees
  const instructions = [
    ...unitBid({ units: fees.unitsOf(transaction), microLamportsPerUnit }),
    ...instructionsOf(depository, transaction, route, identity),
  ]
  const data: z.infer<typeof solanaStepData> = {
    instructions: instructions.map(({ accounts, program, data: bytes }) => ({
      keys: accounts.map(([pubkey, role]) => ({
        pubkey,
        isSigner: isSigner(role),
        isWritable: isWritable(role),
      })),
      programId: program,
      data: bytes.toString('hex'),
    })),
    addressLookupTableAddresses: [],
  }
  return { data, call: undefined }
}

import {
  type AppFeeClaimTypedData,
  bytesToHex,
  type Hex,
  hexToBytes,
  type SqlDatabase,
  UpstreamUnavailableError,
} from '@causeway/core'
import { openAppFeeClaim, readAppFeeClaim, readClaimableAppFees } from '@causeway/ledger'
import type { MarketSnapshot } from '@causeway/market'
import type { ContractSignatures } from '../../access/wallets/contractSignature.ts'
import { InvalidSignatureError } from '../../access/wallets/walletErrors.ts'
import { hasSignedDigest } from '../../access/wallets/walletOwner.ts'
import { unitsBeyondPlain } from '../../pricing/execution/routePayees.ts'
import { networkFees } from '../../pricing/fees/gas.ts'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import { deniedError } from '../../pricing/routes/deniedParties.ts'
import { askPayee, type JudgedPayee, type Payee, type PayeePorts } from '../../pricing/routes/mayBePaid.ts'
import type { TakeSignature } from '../../requests/permits/takePermit.ts'
import type { Screening } from '../../requests/screening/screenedRequest.ts'
import type { ChainStops } from '../../requests/stops/chainStops.ts'
import type { ClaimPayload } from '../../requests/work/workItem.ts'
import { addWork } from '../../requests/work/workStore.ts'
import { AppFeeClaimNotFoundError, InsufficientAppFeesError } from './claimErrors.ts'
import {
  type ClaimRequest,
  type ClaimTarget,
  type ClaimTerms,
  claimAmount,
  claimCharge,
  claimToSign,
  gasChargedFor,
  requireKept,
  requireWorth,
  resolveClaim,
} from './claimTerms.ts'
import { dropOffer, readOffer, saveOffer } from './offerStore.ts'

/** Payout of app fees to the wallets that are owed them. */
export interface AppFeeClaims {
  /**
   * Checks a claim, and answers its id and the typed data to sign. Nothing is reserved before the signature.
   * @throws the errors of `resolveClaim`, `claimAmount`, `askPayee` and `checkLeastPayment`, QuoteError
   * SANCTIONED_WALLET_ADDRESS, UpstreamUnavailableError and UpstreamDisagreementError while the chain cannot be read
   */
  prepare(request: ClaimRequest): Promise<{ readonly claimId: Hex; readonly typedData: AppFeeClaimTypedData }>
  /**
   * Takes the wallet's signature: books the amount out of what can be claimed, and adds its payout to the solver's work.
   * Repeating it changes nothing.
   * @throws AppFeeClaimNotFoundError, InvalidSignatureError, InsufficientAppFeesError, what `askPayee` and
   * `checkLeastPayment` throw, QuoteError SANCTIONED_WALLET_ADDRESS, UpstreamUnavailableError while claims are halted,
   * and what reading a chain throws
   */
  readonly takeSignature: TakeSignature
}

/** A payout that no solver began by then is given up. Well below a day, after which a waiting claim raises an alert. */
const payoutSeconds = 6 * 3_600
const nonceBytes = 32

type ClaimOptions = {
  readonly database: SqlDatabase
  readonly registry: QuoteRegistry
  readonly snapshot: () => MarketSnapshot
  /** Chains on which payouts can be followed. */
  readonly isReadable: (chainId: number) => boolean
  /** Answers of chains about recipients. They may take longer than in a quote. */
  readonly payees: PayeePorts
  /** Absent: nobody is denied. */
  readonly screening?: Pick<Screening, 'isDenied'> | undefined
  readonly stops: Pick<ChainStops, 'refuse'>
  /** Contract wallets of a chain; undefined while it has no endpoint. */
  readonly contractsOf: (chainId: number) => ContractSignatures | undefined
  /** Public URL of this service, part of what is signed: a signature for another service is invalid here. */
  readonly site: string
  readonly randomBytes: (length: number) => Uint8Array
  readonly now: () => number
}

/**
 * Opens claims. `prepare` stores an offer, which reserves nothing and ends after ten minutes. The wallet's
 * signature replaces it in one commit by an open claim, whose amount can no more be claimed, and by its work
 * item. `followClaims` ends the claim: paid, or failed, and then its amount can be claimed again.
 * @source rules L-77 to L-79
 */
export const createAppFeeClaims = (options: ClaimOptions): AppFeeClaims => new Claims(options)

class Claims implements AppFeeClaims {
  readonly #options: ClaimOptions

  constructor(options: ClaimOptions) {
    this.#options = options
  }

  async prepare(request: ClaimRequest): ReturnType<AppFeeClaims['prepare']> {
    const { database, registry, site } = this.#options
    const target = resolveClaim(registry, request)
    const denied = this.#deniedIn(request)
    if (denied !== undefined) throw deniedError(denied)
    this.#refuseStopped(request.chainId)
    if (!this.#options.isReadable(request.chainId)) {
      throw new UpstreamUnavailableError(`Chain ${request.chainId} cannot be read at the moment.`)
    }
    const { wallet, amount: requestedAmount } = request
    const amount = claimAmount({
      target,
      snapshot: this.#options.snapshot(),
      claimable: await this.#claimable(wallet, target.currency),
      asked: requestedAmount,
    })
    const judged = await this.#judgePayee(target, amount)
    const charged = this.#chargeOf(target, amount, judged)
    this.#requireKept(target, { amount, charged }, judged)
    const { currency, recipient } = target
    const terms = { ...request, recipient, currency: currency.address, amount, charged }
    const claimChallenge = { site, nonce: bytesToHex(this.#options.randomBytes(nonceBytes)) }
    const { claimId, typedData } = claimToSign(terms, target, claimChallenge)
    await saveOffer(database, claimId, terms)
    return { claimId, typedData }
  }

  readonly takeSignature: TakeSignature = async ({ requestId: claimId, signature }) => {
    const { database } = this.#options
    // The offer is read first. One commit replaces it by the claim, so that a concurrent call finds one of the two.
    const terms = await readOffer(database, claimId)
    const storedClaim = terms === undefined ? await readAppFeeClaim(database, claimId) : undefined
    const signer =
      terms ?? (storedClaim && { wallet: storedClaim.wallet, chainId: storedClaim.asset.chainId })
    if (signer === undefined) throw new AppFeeClaimNotFoundError()
    const { chainId } = signer
    // CAST: claims are made for parsed wallets alone.
    const wallet = signer.wallet as Hex
    const signed = { digest: hexToBytes(claimId), wallet, signature }
    if (!(await hasSignedDigest(signed, this.#options.contractsOf(chainId))))
      throw new InvalidSignatureError()
    // Without an offer the claim is open already: this is a repetition.
    if (terms !== undefined) await this.#open(claimId, terms)
  }

  /** Name of the first field whose account is denied. */
  #deniedIn({ chainId, wallet, recipient }: ClaimRequest): string | undefined {
    const accounts = Object.entries({ wallet, recipient })
    return accounts.find(([, account]) => this.#options.screening?.isDenied(chainId, account) === true)?.[0]
  }

  /** A claim is paid on the chain on which its fees came in, so that it is both origin and destination. */
  #refuseStopped(chainId: number): void {
    this.#options.stops.refuse(chainId, chainId)
  }

  /**
   * Books the claim and adds its work. Deny list, stops and recipient are checked again, because time has
   * passed since the offer. Amount and `charged` stay as signed; only the limit of the payout's gas is that
   * of present prices.
   */
  async #open(claimId: Hex, terms: ClaimTerms): Promise<void> {
    const { database, registry, now } = this.#options
    // The signature request names only the claim's id, so the refusal names that field.
    if (this.#deniedIn(terms) !== undefined) throw deniedError('requestId')
    this.#refuseStopped(terms.chainId)
    const target = resolveClaim(registry, terms)
    const { chain, currency, recipient } = target
    const { chainId, address, symbol, name, decimals } = currency
    const { wallet, amount, charged } = terms
    this.#requireKept(target, { amount, charged }, await this.#judgePayee(target, amount))
    const payload: ClaimPayload = {
      claimId,
      chainId,
      ...(chain.config.fillContract !== undefined && { fillContract: chain.config.fillContract }),
      deadline: Math.floor(now() / 1_000) + payoutSeconds,
      wallet,
      recipient,
      currency: address,
      amount: (amount - charged).toString(),
      gasCharged: gasChargedFor(target, this.#options.snapshot(), terms).toString(),
    }
    await database.transaction(async (tx) => {
      const asset = { chainId, address, symbol, name, decimals }
      const outcome = await openAppFeeClaim(tx, { claimId, wallet, recipient, asset, amount })
      // A concurrent call opened it, and dropped the offer.
      if (outcome === 'exists') return
      if (outcome === 'insufficient')
        throw new InsufficientAppFeesError(await this.#claimable(wallet, currency))
      if (outcome === 'halted') throw new UpstreamUnavailableError('Claims are halted; try again later.')
      await addWork(tx, { kind: 'claim', requestId: undefined, subject: claimId, chainId, payload })
      await dropOffer(tx, claimId)
    })
  }

  /** Refuses a recipient that cannot be paid: such a claim would never end. Waits for the chain's answer. */
  #judgePayee(target: ClaimTarget, amount: bigint): Promise<JudgedPayee> {
    return askPayee(this.#options.payees, payeeOf(target, amount), 'recipient')
  }

  /** @throws QuoteError AMOUNT_TOO_LOW */
  #requireKept(
    { chain, currency }: ClaimTarget,
    terms: Pick<ClaimTerms, 'amount' | 'charged'>,
    { lack = {} }: JudgedPayee,
  ): void {
    requireKept(networkFees(this.#options.snapshot(), chain), { ...terms, lack, currency })
  }

  /** @throws QuoteError AMOUNT_TOO_LOW */
  #chargeOf(target: ClaimTarget, amount: bigint, judged: JudgedPayee): bigint {
    const snapshot = this.#options.snapshot()
    const { chain, currency } = target
    const overheadUnits = unitsBeyondPlain(snapshot, { kind: 'refund', chain, currency, judged })
    const charged = claimCharge(target, snapshot, { overheadUnits, lack: judged.lack ?? {} })
    requireWorth(target, snapshot, { amount, charged })
    return charged
  }

  async #claimable(wallet: Hex, currency: { chainId: number; address: string }): Promise<bigint> {
    const { database } = this.#options
    const balances = await readClaimableAppFees(database, wallet)
    const { chainId, address } = currency
    const balance = balances.find(({ asset }) => asset.chainId === chainId && asset.address === address)
    return balance?.amount ?? 0n
  }
}

/**
 * The payment of a claim, as checks of payees take it. The claim names its recipient, so the payment is
 * simulated. It must create no state, because the recipient could keep the rent.
 */
function payeeOf({ chain, currency, recipient: account }: ClaimTarget, amount: bigint): Payee {
  return { what: 'claim', chain, account, currency, amount, isNamed: true, makesState: false }
}

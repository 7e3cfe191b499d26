import { DomainError, type Hex, type SqlDatabase } from '@causeway/core'
import { toBytes } from '../orders/orderColumns.ts'

/** The caller's key has no such deposit address. */
export class UnknownDepositAddressError extends DomainError {
  readonly code = 'DEPOSIT_ADDRESS_NOT_FOUND'
  readonly kind = 'not_found'

  constructor() {
    super('No request of this key has that deposit address.')
  }
}

/** A deposit address as the integrator who had it quoted looks it up. */
type DepositAddressRecord = {
  /** Canonical. */
  readonly depositAddress: string
  /** The request that it was made for; later payments may be for newer ones. */
  readonly requestId: Hex
  readonly chainId: number
  readonly createdAt: Date
  /** Quoted currency, in canonical spelling. */
  readonly currency: string
  /** True for an address of a single use. */
  readonly isStrict: boolean
  /** Recipient of refunds. */
  readonly refundTo: string
}

/** Answers integrators who look their deposit addresses up over HTTP. */
export interface DepositAddressLookup {
  /**
   * Finds an address by itself, in upper or lower case where its family ignores case, or by any request that was made for
   * it. Addresses of other keys, and of callers without a key, count as unknown. @throws UnknownDepositAddressError
   */
  find(
    lookupKey: { readonly address: string } | { readonly requestId: Hex },
    apiKeyId: string,
  ): Promise<DepositAddressRecord>
}

export function createDepositAddressLookup(database: Pick<SqlDatabase, 'query'>): DepositAddressLookup {
  return {
    async find(lookupKey, apiKeyId) {
      const [addressSql, value] =
        'address' in lookupKey
          ? ['$1', lookupKey.address]
          : ['(select n.deposit_address from orders n where n.request_id = $1)', toBytes(lookupKey.requestId)]
      // Three spellings meet here. `deposit_address` has the canonical one, in lower case where the family ignores case.
      // `orders` has it as it was quoted, e.g. with the capitals of a checksum. The caller sends either. So `d.address` must
      // be the quoted text as it is or in lower case; `lower() = lower()` only lets the index be used. The oldest request of
      // the address made it; later ones, for its payments, have the same key.
      const [row] = await database.query<AddressRow>(
        `select d.address, d.chain_id, d.created_at, d.depositor, d.currency, d.is_strict, o.request_id, o.api_key_id
         from deposit_address d join orders o on o.deposit_address is not null
           and lower(o.deposit_address) = lower(d.address) and d.address in (o.deposit_address, lower(o.deposit_address))
         where d.address in (${addressSql}, lower(${addressSql})) order by o.created_at, o.request_id limit 1`,
        [value],
      )
      if (row === undefined || row.api_key_id !== apiKeyId) throw new UnknownDepositAddressError()
      return {
        depositAddress: row.address,
        requestId: `0x${row.request_id.toString('hex')}`,
        chainId: Number(row.chain_id),
        createdAt: row.created_at,
        currency: row.currency,
        isStrict: row.is_strict,
        refundTo: row.depositor,
      }
    },
  }
}

type AddressRow = {
  readonly address: string
  readonly chain_id: bigint
  readonly created_at: Date
  readonly depositor: string
  readonly request_id: Buffer
  readonly api_key_id: string | null
  readonly currency: string
  readonly is_strict: boolean
}

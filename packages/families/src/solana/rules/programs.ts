/**
 * Programs and instruction layouts that facts come from.
 * @source Solana documentation, "Native programs", "SPL Token", "Memo"; for the depository
 * github.com/relayprotocol/relay-depository, relay-depository/src/lib.rs
 */
export const systemProgram = '11111111111111111111111111111111'
export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111'
export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** First eight bytes of the depository's instructions: SHA-256 of `global:<name>`. */
export const depositNativeDiscriminator = '0d9e0ddf5fd51c06'
export const depositTokenDiscriminator = '0b9c60da27a3b413'
export const executeTransferDiscriminator = 'e97ea0b8ebce1f77'
/** First eight bytes of a used request's account. */
export const usedRequestDiscriminator = '87866e4d9662b46b'

/** Data length of a payment marker, by which it says whether the id was paid or closed. See decision 27. */
export const markBytes = { paid: 1, closed: 2 } as const

/**
 * SHA-256 of this release's program that makes and empties deposit addresses, without zeros at its end. The program
 * on a chain is compared with it. @source packages/contracts/programs/solana/depositAddresses.c
 */
export const depositAddressesCode = 'e700010cd9890400fa4b8edac9fdbb5928b80b66c9a6efc9336be150e624bafa'

/** User for whom clients ask prices before a wallet is connected. @source github.com/relayprotocol/relay-kit */
export const placeholderUser = 'CbKGgVKLJFb8bBrf58DnAkdryX6ubewVytn7X957YwNr'

/**
 * Programs of the cluster, which are paid nothing.
 * @source Solana documentation, "Native programs", "Sysvar cluster data"; agave, `runtime`, incinerator
 */
const reservedAccounts: ReadonlySet<string> = new Set([
  'NativeLoader1111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'StakeConfig11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'Feature111111111111111111111111111111111111',
  'AddressLookupTab1e1111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
  'ZkE1Gama1Proof11111111111111111111111111111',
  '1nc1nerator11111111111111111111111111111111',
  computeBudgetProgram,
  tokenProgram,
  token2022Program,
  associatedTokenProgram,
  memoProgram,
])

/** Kind of a reserved account, for an error message; undefined for any other account. */
export function reservedAccount(account: string): string | undefined {
  if (/^Sysvar.{20,}1$/.test(account)) return 'a sysvar of the cluster'
  return reservedAccounts.has(account) ? 'a program of the cluster' : undefined
}

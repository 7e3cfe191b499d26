/**
 * Programs and instruction layouts that facts come from.
 * @source oracle-protocol.md 5.2; Solana documentation, "Native programs", "SPL Token", "Memo"
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

/** Bytes of the account with which a fill wallet marks what it paid, or closed. See decision 27. */
export const markBytes = { paid: 1, closed: 2 } as const

/**
 * SHA-256 of the program that makes and empties deposit addresses, without zeros at its end: what stands on a chain is
 * compared with it. @source packages/contracts/programs/solana/depositAddresses.c
 */
export const depositAddressesCode = 'e700010cd9890400fa4b8edac9fdbb5928b80b66c9a6efc9336be150e624bafa'

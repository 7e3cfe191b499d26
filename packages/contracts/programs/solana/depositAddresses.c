/*
 * Addresses that anybody can pay to, and that can only be emptied into one depository for an order that was signed
 * for this very address, or back to their depositor. Nobody holds a key of them: each is derived from its terms by
 * this program, which keeps nothing, has no owner and no setting. The counterpart of DepositAddresses.sol.
 *
 * Terms: depository program, order signer (20 bytes, secp256k1), sweeper, depositor, nonce (32 bytes). An address is
 * derived from the seeds `deposit` and SHA-256 of the five.
 *
 * Data: one byte for what is done, then order signer and nonce. A sweep adds the seven words of the order's EIP-712
 * struct, and the signature of its id.
 */
#include "solana.h"

enum {
  BAD_INPUT = 1,
  WRONG_ACCOUNT = 2,
  NOT_SWEEPER = 3,
  NOT_DEPOSITOR = 4,
  NOT_SIGNED = 5,
  ORDER_OF_ANOTHER_ADDRESS = 6,
  NOTHING_THERE = 7
};
enum { SWEEP = 1, WITHDRAW = 2, CLOSE = 3 };
enum { SIGNER_BYTES = 20, WORD_BYTES = 32, WORDS = 7, SIGNATURE_BYTES = 65, NAME_BYTES = 20 };
enum { SIGNER_AT = 1, NONCE_AT = 21, ORDER_AT = 53, SIGNATURE_AT = 277, SWEEP_BYTES = 342 };
/** Of the words of an order; its first bytes name the address that it may be paid from. */
enum { SALT_AT = ORDER_AT + 3 * WORD_BYTES };
enum { TOKEN_AMOUNT_AT = 64, TOKEN_ACCOUNT_BYTES = 165, MINT_DECIMALS_AT = 44, MINT_BYTES = 82 };

/** One constant, because compilers put small ones into sections of their own. */
static const struct {
  /** As in DepositAddresses.sol: of an order and the structs inside it. */
  u8 order_typehash[32];
  u8 system_program[32];
  /** TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA */
  u8 token_program[32];
  /** TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb */
  u8 token_2022_program[32];
  /** ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL */
  u8 associated_program[32];
  u8 signed_message[28];
  u8 deposit_native[8];
  u8 deposit_token[8];
  u8 address_seed[7];
} known = {
    .order_typehash = { 0xee, 0x05, 0xe7, 0x3d, 0xa8, 0xf2, 0xfc, 0xe1, 0x1d, 0x34, 0xa7, 0x8a, 0x39, 0x99,
        0x8b, 0x4d, 0xd8, 0xa5, 0x6c, 0x62, 0x98, 0xaa, 0x9a, 0xd2, 0x87, 0x0c, 0x3f, 0x9a, 0x28, 0x21, 0xdc,
        0x8e},
    .system_program = {0},
    .token_program = { 0x06, 0xdd, 0xf6, 0xe1, 0xd7, 0x65, 0xa1, 0x93, 0xd9, 0xcb, 0xe1, 0x46, 0xce, 0xeb, 0x79,
        0xac, 0x1c, 0xb4, 0x85, 0xed, 0x5f, 0x5b, 0x37, 0x91, 0x3a, 0x8c, 0xf5, 0x85, 0x7e, 0xff, 0x00, 0xa9},
    .token_2022_program = { 0x06, 0xdd, 0xf6, 0xe1, 0xee, 0x75, 0x8f, 0xde, 0x18, 0x42, 0x5d, 0xbc, 0xe4, 0x6c,
        0xcd, 0xda, 0xb6, 0x1a, 0xfc, 0x4d, 0x83, 0xb9, 0x0d, 0x27, 0xfe, 0xbd, 0xf9, 0x28, 0xd8, 0xa1, 0x8b,
        0xfc},
    .associated_program = { 0x8c, 0x97, 0x25, 0x8f, 0x4e, 0x24, 0x89, 0xf1, 0xbb, 0x3d, 0x10, 0x29, 0x14, 0x8e,
        0x0d, 0x83, 0x0b, 0x5a, 0x13, 0x99, 0xda, 0xff, 0x10, 0x84, 0x04, 0x8e, 0x7b, 0xd8, 0xdb, 0xe9, 0xf8,
        0x59},
    .signed_message = {0x19, 'E', 't', 'h', 'e', 'r', 'e', 'u', 'm', ' ', 'S', 'i', 'g', 'n', 'e', 'd', ' ',
        'M', 'e', 's', 's', 'a', 'g', 'e', ':', '\n', '3', '2'},
    .deposit_native = {13, 158, 13, 223, 95, 213, 28, 6},
    .deposit_token = {11, 156, 96, 218, 39, 163, 180, 19},
    .address_seed = {'d', 'e', 'p', 'o', 's', 'i', 't'},
};

/** Behind what every program has: what is hashed, and what comes of it. */
typedef struct {
  Scratch scratch;
  Slice hashed[5];
  u8 terms[32];
  u8 order_id[32];
  u8 digest[32];
  u8 public_key[64];
  u8 key_hash[32];
} Memory;

INLINE void slice(Slice *at, const u8 *bytes, u64 length) {
  at->bytes = bytes;
  at->length = length;
}

INLINE int is_key(const Account *account, const u8 *key) { return equal(account->key, key, KEY_BYTES); }

INLINE int is_token_program(const Account *account) {
  return is_key(account, known.token_program) || is_key(account, known.token_2022_program);
}

/** The accounts that every instruction names. */
typedef struct {
  const Account *caller;
  const Account *address;
  const Account *depositor;
  const Account *sweeper;
  const Account *depository;
} Parties;

/** Whether the address is the one of these terms. Leaves the seeds that sign for it. */
INLINE int is_address(Memory *memory, const Parties *parties) {
  Scratch *scratch = &memory->scratch;
  slice(&memory->hashed[0], parties->depository->key, KEY_BYTES);
  slice(&memory->hashed[1], scratch->input.data + SIGNER_AT, SIGNER_BYTES);
  slice(&memory->hashed[2], parties->sweeper->key, KEY_BYTES);
  slice(&memory->hashed[3], parties->depositor->key, KEY_BYTES);
  slice(&memory->hashed[4], scratch->input.data + NONCE_AT, WORD_BYTES);
  sol_sha256(memory->hashed, 5, memory->terms);
  slice(&scratch->slices[0], known.address_seed, sizeof known.address_seed);
  slice(&scratch->slices[1], memory->terms, sizeof memory->terms);
  if (sol_try_find_program_address(scratch->slices, 2, scratch->input.program_id, scratch->address,
                                   &scratch->bump) != 0)
    return 0;
  slice(&scratch->slices[2], &scratch->bump, 1);
  return equal(scratch->address, parties->address->key, KEY_BYTES);
}

enum { ADDRESS_SEEDS = 3 };

/** The order's id, where its signer signed it for this address; else why not. */
INLINE u64 check_order(Memory *memory, const Account *address) {
  const u8 *data = memory->scratch.input.data;
  if (!equal(data + SALT_AT, address->key, NAME_BYTES)) return ORDER_OF_ANOTHER_ADDRESS;
  slice(&memory->hashed[0], known.order_typehash, sizeof known.order_typehash);
  slice(&memory->hashed[1], data + ORDER_AT, WORDS * WORD_BYTES);
  sol_keccak256(memory->hashed, 2, memory->order_id);
  slice(&memory->hashed[0], known.signed_message, sizeof known.signed_message);
  slice(&memory->hashed[1], memory->order_id, sizeof memory->order_id);
  sol_keccak256(memory->hashed, 2, memory->digest);
  u8 recovery = data[SIGNATURE_AT + 64];
  if (recovery != 27 && recovery != 28) return NOT_SIGNED;
  if (sol_secp256k1_recover(memory->digest, recovery - 27, data + SIGNATURE_AT, memory->public_key) != 0)
    return NOT_SIGNED;
  slice(&memory->hashed[0], memory->public_key, sizeof memory->public_key);
  sol_keccak256(memory->hashed, 1, memory->key_hash);
  return equal(memory->key_hash + 12, data + SIGNER_AT, SIGNER_BYTES) ? 0 : NOT_SIGNED;
}

INLINE void write_deposit(Memory *memory, const u8 *discriminator, u64 amount) {
  Scratch *scratch = &memory->scratch;
  for (int byte = 0; byte < 8; byte += 1) scratch->call_data[byte] = discriminator[byte];
  write_u64(scratch->call_data + 8, amount);
  for (int byte = 0; byte < WORD_BYTES; byte += 1) scratch->call_data[16 + byte] = memory->order_id[byte];
  scratch->instruction.data_len = 16 + WORD_BYTES;
}

/**
 * Deposits all of the coin, or all of one token, for an order. Accounts: sweeper, who signs; address; depositor;
 * depository program, its own account and its vault; system program. For a token also its mint, the address's and the
 * vault's accounts of it, token program and associated token program.
 */
INLINE u64 run_sweep(Memory *memory) {
  Scratch *scratch = &memory->scratch;
  const Account *accounts = scratch->input.accounts;
  const u64 count = scratch->input.account_len;
  if (scratch->input.data_len != SWEEP_BYTES || (count != 7 && count != 12)) return BAD_INPUT;
  const Parties parties = {&accounts[0], &accounts[1], &accounts[2], &accounts[0], &accounts[3]};
  if (!parties.caller->is_signer) return NOT_SWEEPER;
  if (!is_address(memory, &parties)) return WRONG_ACCOUNT;
  // What is called with the address's signature is named by its key, so that nobody else gets that signature.
  if (!is_key(&accounts[6], known.system_program)) return WRONG_ACCOUNT;
  const u64 refusal = check_order(memory, parties.address);
  if (refusal != 0) return refusal;
  begin_call(scratch, parties.depository->key);
  pass(scratch, &accounts[4], 0, 0);
  pass(scratch, parties.address, 1, 1);
  pass(scratch, parties.depositor, 0, 0);
  if (count == 7) {
    const u64 lamports = *parties.address->lamports;
    if (lamports == 0) return NOTHING_THERE;
    pass(scratch, &accounts[5], 1, 0);
    pass(scratch, &accounts[6], 0, 0);
    write_deposit(memory, known.deposit_native, lamports);
    return call(scratch, ADDRESS_SEEDS);
  }
  const Account *held = &accounts[8];
  if (!is_token_program(&accounts[10]) || !is_key(&accounts[11], known.associated_program)) return WRONG_ACCOUNT;
  if (held->data_len < TOKEN_ACCOUNT_BYTES) return NOTHING_THERE;
  const u64 amount = read_u64(held->data + TOKEN_AMOUNT_AT);
  if (amount == 0) return NOTHING_THERE;
  pass(scratch, &accounts[5], 0, 0);
  pass(scratch, &accounts[7], 0, 0);
  pass(scratch, held, 1, 0);
  pass(scratch, &accounts[9], 1, 0);
  pass(scratch, &accounts[10], 0, 0);
  pass(scratch, &accounts[11], 0, 0);
  pass(scratch, &accounts[6], 0, 0);
  write_deposit(memory, known.deposit_token, amount);
  return call(scratch, ADDRESS_SEEDS);
}

/** Whether the caller may give back what lies at the address. */
INLINE u64 check_caller(Memory *memory, const Parties *parties) {
  if (!parties->caller->is_signer) return NOT_DEPOSITOR;
  if (!is_key(parties->caller, parties->depositor->key) && !is_key(parties->caller, parties->sweeper->key))
    return NOT_DEPOSITOR;
  return is_address(memory, parties) ? 0 : WRONG_ACCOUNT;
}

/** An owner's own account of a mint. Uses the seeds of the address up. */
INLINE int is_token_account_of(Memory *memory, const Account *account, const u8 *owner, const Account *program,
                               const Account *mint) {
  Scratch *scratch = &memory->scratch;
  slice(&memory->hashed[0], owner, KEY_BYTES);
  slice(&memory->hashed[1], program->key, KEY_BYTES);
  slice(&memory->hashed[2], mint->key, KEY_BYTES);
  u8 bump;
  if (sol_try_find_program_address(memory->hashed, 3, known.associated_program, scratch->hash, &bump) != 0) return 0;
  return equal(scratch->hash, account->key, KEY_BYTES);
}

/**
 * Gives all of the coin, or all of one token, to the depositor: he may ask for it, and the sweeper may. Accounts:
 * caller, who signs; address; depositor; sweeper; depository program; system program. For a token also its mint, the
 * address's and the depositor's accounts of it, and the token program.
 */
INLINE u64 run_withdraw(Memory *memory) {
  Scratch *scratch = &memory->scratch;
  const Account *accounts = scratch->input.accounts;
  const u64 count = scratch->input.account_len;
  if (scratch->input.data_len != ORDER_AT || (count != 6 && count != 10)) return BAD_INPUT;
  const Parties parties = {&accounts[0], &accounts[1], &accounts[2], &accounts[3], &accounts[4]};
  const u64 refusal = check_caller(memory, &parties);
  if (refusal != 0) return refusal;
  if (count == 6) {
    const u64 lamports = *parties.address->lamports;
    if (!is_key(&accounts[5], known.system_program)) return WRONG_ACCOUNT;
    if (lamports == 0) return NOTHING_THERE;
    begin_call(scratch, accounts[5].key);
    pass(scratch, parties.address, 1, 1);
    pass(scratch, parties.depositor, 1, 0);
    write_u64(scratch->call_data, 2);
    write_u64(scratch->call_data + 4, lamports);
    scratch->instruction.data_len = 12;
    return call(scratch, ADDRESS_SEEDS);
  }
  const Account *mint = &accounts[6];
  const Account *held = &accounts[7];
  const Account *program = &accounts[9];
  if (!is_token_program(program) || mint->data_len < MINT_BYTES) return WRONG_ACCOUNT;
  if (!is_token_account_of(memory, &accounts[8], parties.depositor->key, program, mint)) return WRONG_ACCOUNT;
  if (held->data_len < TOKEN_ACCOUNT_BYTES) return NOTHING_THERE;
  const u64 amount = read_u64(held->data + TOKEN_AMOUNT_AT);
  if (amount == 0) return NOTHING_THERE;
  begin_call(scratch, program->key);
  pass(scratch, held, 1, 0);
  pass(scratch, mint, 0, 0);
  pass(scratch, &accounts[8], 1, 0);
  pass(scratch, parties.address, 0, 1);
  // transferChecked
  scratch->call_data[0] = 12;
  write_u64(scratch->call_data + 1, amount);
  scratch->call_data[9] = mint->data[MINT_DECIMALS_AT];
  scratch->instruction.data_len = 10;
  return call(scratch, ADDRESS_SEEDS);
}

/**
 * Closes a token account of the address; its lamports go to the depositor. Accounts: caller, who signs; address;
 * depositor; sweeper; depository program; the account; token program.
 */
INLINE u64 run_close(Memory *memory) {
  Scratch *scratch = &memory->scratch;
  const Account *accounts = scratch->input.accounts;
  if (scratch->input.data_len != ORDER_AT || scratch->input.account_len != 7) return BAD_INPUT;
  const Parties parties = {&accounts[0], &accounts[1], &accounts[2], &accounts[3], &accounts[4]};
  const u64 refusal = check_caller(memory, &parties);
  if (refusal != 0) return refusal;
  if (!is_token_program(&accounts[6])) return WRONG_ACCOUNT;
  begin_call(scratch, accounts[6].key);
  pass(scratch, &accounts[5], 1, 0);
  pass(scratch, parties.depositor, 1, 0);
  pass(scratch, parties.address, 0, 1);
  // closeAccount: the token program refuses an account with a balance, but of wrapped SOL it pays all to the depositor
  scratch->call_data[0] = 9;
  scratch->instruction.data_len = 1;
  return call(scratch, ADDRESS_SEEDS);
}

u64 entrypoint(u8 *bytes) {
  Memory *memory = (Memory *)HEAP_START;
  if (!parse_input(bytes, &memory->scratch.input) || memory->scratch.input.data_len < ORDER_AT) return BAD_INPUT;
  switch (memory->scratch.input.data[0]) {
    case SWEEP:
      return run_sweep(memory);
    case WITHDRAW:
      return run_withdraw(memory);
    case CLOSE:
      return run_close(memory);
    default:
      return BAD_INPUT;
  }
}

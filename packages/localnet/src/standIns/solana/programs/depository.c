/*
 * A depository with the instructions, accounts, program addresses and rules of the public one that the
 * oracle reads: deposits, one execution per request, none from its expiration on. It does not check who
 * ordered an execution (the public one wants the allocator's Ed25519 signature): never deploy it.
 * @source the public program relay_depository: accounts and order of checks
 */
#include "solana.h"

enum { BAD_INPUT = 1, WRONG_ACCOUNT = 2, ALREADY_USED = 3, EXPIRED = 4 };
enum { ARGUMENTS = 8, ID = 16, DEPOSIT_BYTES = 48, USED_REQUEST_BYTES = 9, REQUEST_BYTES_MIN = 121 };

/** Rent exemption of nine bytes. */
#define USED_REQUEST_LAMPORTS 953520ULL
#define MINT_DECIMALS_AT 44
/** First eight bytes of SHA-256 over `account:RelayDepository`, as a number. */
#define DEPOSITORY_STATE 0x6BF553F3BD9C3580ULL

static const u8 deposit_native[8] = {13, 158, 13, 223, 95, 213, 28, 6};
static const u8 deposit_token[8] = {11, 156, 96, 218, 39, 163, 180, 19};
static const u8 execute_transfer[8] = {233, 126, 160, 184, 235, 206, 31, 119};
static const u8 depository_seed[16] = {'r', 'e', 'l', 'a', 'y', '_', 'd', 'e',
                                       'p', 'o', 's', 'i', 't', 'o', 'r', 'y'};
static const u8 used_request[8] = {135, 134, 110, 77, 150, 98, 180, 107};
static const u8 vault_seed[5] = {'v', 'a', 'u', 'l', 't'};
static const u8 used_request_seed[12] = {'u', 's', 'e', 'd', '_', 'r', 'e', 'q', 'u', 'e', 's', 't'};

INLINE void seed(Scratch *scratch, u64 at, const u8 *bytes, u64 length) {
  scratch->slices[at].bytes = bytes;
  scratch->slices[at].length = length;
}

/** Derives from the first `seeds` slices and leaves the bump as the seed behind them. */
INLINE int is_derived(Scratch *scratch, u64 seeds, const u8 *program_id, const u8 *address) {
  if (sol_try_find_program_address(scratch->slices, seeds, program_id, scratch->address, &scratch->bump) != 0)
    return 0;
  seed(scratch, seeds, &scratch->bump, 1);
  return equal(scratch->address, address, KEY_BYTES);
}

INLINE int is_vault(Scratch *scratch, const Account *vault) {
  seed(scratch, 0, vault_seed, sizeof vault_seed);
  return is_derived(scratch, 1, scratch->input.program_id, vault->key);
}

/** The program's own account, which its owner has initialised. */
INLINE int is_state(Scratch *scratch, const Account *state) {
  seed(scratch, 0, depository_seed, sizeof depository_seed);
  if (!is_derived(scratch, 1, scratch->input.program_id, state->key)) return 0;
  return equal(state->owner, scratch->input.program_id, KEY_BYTES) && state->data_len >= 8 &&
         read_u64(state->data) == DEPOSITORY_STATE;
}

INLINE int is_token_account(Scratch *scratch, const Account *account, const u8 *owner, const u8 *program,
                            const u8 *mint, const u8 *associated_program) {
  seed(scratch, 0, owner, KEY_BYTES);
  seed(scratch, 1, program, KEY_BYTES);
  seed(scratch, 2, mint, KEY_BYTES);
  return is_derived(scratch, 3, associated_program, account->key);
}

INLINE u64 transfer_lamports(Scratch *scratch, const Account *system, const Account *from, const Account *to,
                             u64 amount, u64 seed_len) {
  begin_call(scratch, system->key);
  pass(scratch, from, 1, 1);
  pass(scratch, to, 1, 0);
  for (int byte = 0; byte < 4; byte += 1) scratch->call_data[byte] = byte == 0 ? 2 : 0;
  write_u64(scratch->call_data + 4, amount);
  scratch->instruction.data_len = 12;
  return call(scratch, seed_len);
}

/** `transferChecked` of either token program. */
INLINE u64 transfer_tokens(Scratch *scratch, const Account *program, const Account *from, const Account *mint,
                           const Account *to, const Account *authority, u64 amount, u64 seed_len) {
  begin_call(scratch, program->key);
  pass(scratch, from, 1, 0);
  pass(scratch, mint, 0, 0);
  pass(scratch, to, 1, 0);
  pass(scratch, authority, 0, 1);
  scratch->call_data[0] = 12;
  write_u64(scratch->call_data + 1, amount);
  scratch->call_data[9] = mint->data[MINT_DECIMALS_AT];
  scratch->instruction.data_len = 10;
  return call(scratch, seed_len);
}

/** Accounts: depository, sender, depositor, vault, system program. */
INLINE u64 run_deposit_native(Scratch *scratch) {
  const Account *accounts = scratch->input.accounts;
  if (scratch->input.account_len < 5 || scratch->input.data_len < DEPOSIT_BYTES) return BAD_INPUT;
  if (!is_state(scratch, &accounts[0])) return WRONG_ACCOUNT;
  if (!is_vault(scratch, &accounts[3])) return WRONG_ACCOUNT;
  return transfer_lamports(scratch, &accounts[4], &accounts[1], &accounts[3],
                           read_u64(scratch->input.data + ARGUMENTS), 0);
}

/**
 * Accounts: depository, sender, depositor, vault, mint, sender's and vault's token accounts, token program,
 * associated token program, system program.
 */
INLINE u64 run_deposit_token(Scratch *scratch) {
  Account *accounts = scratch->input.accounts;
  if (scratch->input.account_len < 10 || scratch->input.data_len < DEPOSIT_BYTES) return BAD_INPUT;
  if (!is_state(scratch, &accounts[0])) return WRONG_ACCOUNT;
  if (!is_vault(scratch, &accounts[3])) return WRONG_ACCOUNT;
  if (accounts[6].data_len == 0) {
    begin_call(scratch, accounts[8].key);
    pass(scratch, &accounts[1], 1, 1);
    pass(scratch, &accounts[6], 1, 0);
    pass(scratch, &accounts[3], 0, 0);
    pass(scratch, &accounts[4], 0, 0);
    pass(scratch, &accounts[9], 0, 0);
    pass(scratch, &accounts[7], 0, 0);
    scratch->call_data[0] = 1;
    scratch->instruction.data_len = 1;
    u64 failure = call(scratch, 0);
    if (failure != 0) return failure;
    // The call made it larger, and the next one is told how large it is.
    accounts[6].data_len = read_u64(accounts[6].data - 8);
  }
  if (!is_token_account(scratch, &accounts[5], accounts[1].key, accounts[7].key, accounts[4].key, accounts[8].key))
    return WRONG_ACCOUNT;
  if (!is_token_account(scratch, &accounts[6], accounts[3].key, accounts[7].key, accounts[4].key, accounts[8].key))
    return WRONG_ACCOUNT;
  return transfer_tokens(scratch, &accounts[7], &accounts[5], &accounts[4], &accounts[6], &accounts[1],
                         read_u64(scratch->input.data + ARGUMENTS), 0);
}

/** Marks the request as used, in an account that the executor pays for. */
INLINE u64 use_request(Scratch *scratch, const Account *executor, Account *used, const Account *system) {
  scratch->slices[0].bytes = scratch->input.data + ARGUMENTS;
  scratch->slices[0].length = scratch->input.data_len - ARGUMENTS;
  sol_sha256(scratch->slices, 1, scratch->hash);
  seed(scratch, 0, used_request_seed, sizeof used_request_seed);
  seed(scratch, 1, scratch->hash, KEY_BYTES);
  if (!is_derived(scratch, 2, scratch->input.program_id, used->key)) return WRONG_ACCOUNT;
  if (used->data_len != 0) return ALREADY_USED;
  begin_call(scratch, system->key);
  pass(scratch, executor, 1, 1);
  pass(scratch, used, 1, 1);
  for (int byte = 0; byte < 4; byte += 1) scratch->call_data[byte] = 0;
  write_u64(scratch->call_data + 4, USED_REQUEST_LAMPORTS);
  write_u64(scratch->call_data + 12, USED_REQUEST_BYTES);
  for (int byte = 0; byte < KEY_BYTES; byte += 1)
    scratch->call_data[20 + byte] = scratch->input.program_id[byte];
  scratch->instruction.data_len = 20 + KEY_BYTES;
  u64 failure = call(scratch, 3);
  if (failure != 0) return failure;
  for (int byte = 0; byte < 8; byte += 1) used->data[byte] = used_request[byte];
  used->data[8] = 1;
  return 0;
}

/**
 * Accounts: depository, executor, recipient, vault, mint, recipient's and vault's token accounts, used
 * request, instructions sysvar, token program, associated token program, system program. Without a token the
 * three of it are the program itself.
 */
INLINE u64 run_execute_transfer(Scratch *scratch) {
  Account *accounts = scratch->input.accounts;
  if (scratch->input.account_len < 12 || scratch->input.data_len < ARGUMENTS + REQUEST_BYTES_MIN)
    return BAD_INPUT;
  if (!is_state(scratch, &accounts[0])) return WRONG_ACCOUNT;
  const u8 *recipient = scratch->input.data + ARGUMENTS + KEY_BYTES;
  const u8 *token = recipient + KEY_BYTES;
  const u8 *numbers = token + 1 + (*token == 1 ? KEY_BYTES : 0);
  u64 amount = read_u64(numbers);
  i64 expiration = (i64)read_u64(numbers + 16);
  if (!equal(recipient, accounts[2].key, KEY_BYTES)) return WRONG_ACCOUNT;
  if (*token == 1 && !equal(token + 1, accounts[4].key, KEY_BYTES)) return WRONG_ACCOUNT;
  sol_get_clock_sysvar(&scratch->clock);
  if (scratch->clock.unix_timestamp >= expiration) return EXPIRED;
  u64 failure = use_request(scratch, &accounts[1], &accounts[7], &accounts[11]);
  if (failure != 0) return failure;
  if (!is_vault(scratch, &accounts[3])) return WRONG_ACCOUNT;
  if (*token == 1)
    return transfer_tokens(scratch, &accounts[9], &accounts[6], &accounts[4], &accounts[5], &accounts[3],
                           amount, 2);
  return transfer_lamports(scratch, &accounts[11], &accounts[3], &accounts[2], amount, 2);
}

u64 entrypoint(u8 *bytes) {
  Scratch *scratch = (Scratch *)HEAP_START;
  if (!parse_input(bytes, &scratch->input) || scratch->input.data_len < 8) return BAD_INPUT;
  const u8 *data = scratch->input.data;
  if (equal(data, deposit_native, 8)) return run_deposit_native(scratch);
  if (equal(data, deposit_token, 8)) return run_deposit_token(scratch);
  if (equal(data, execute_transfer, 8)) return run_execute_transfer(scratch);
  return BAD_INPUT;
}

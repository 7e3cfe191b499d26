import { ConfigurationError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { parseSecretsFile } from './parseSecretsFile.ts'

const parse = (text: string) => Object.fromEntries(parseSecretsFile(text, 'app'))

test('reads what a shell would set', () => {
  const text = [
    '# a comment',
    '',
    'PLAIN=value',
    'export EXPORTED=https://rpc.example/v2?key=a&b=c;d|e',
    "SINGLE='a b $HOME `x` \" \\'",
    'DOUBLE="a b \\" \\\\ \\$ \' # no comment"',
    'EMPTY=',
    "EMPTY_QUOTED=''",
    'COMMENTED=x # a comment',
    "COMMENTED_TOO='x' # a comment",
    '  INDENTED=1\r',
    'BASE64=abc+/==',
  ].join('\n')
  expect(parse(text)).toEqual({
    PLAIN: 'value',
    EXPORTED: 'https://rpc.example/v2?key=a&b=c;d|e',
    SINGLE: 'a b $HOME `x` " \\',
    DOUBLE: 'a b " \\ $ \' # no comment',
    EMPTY: '',
    EMPTY_QUOTED: '',
    COMMENTED: 'x',
    COMMENTED_TOO: 'x',
    INDENTED: '1',
    BASE64: 'abc+/==',
  })
})

describe('refuses, naming file and line and never the content', () => {
  test.each([
    ['no assignment', 'CANARY'],
    ['a command', 'rm -rf CANARY'],
    ['a bad name', '1CANARY=x'],
    ['space before the sign', 'KEY =CANARY'],
    ['space in the value', 'KEY=CANARY x'],
    ['an expansion', 'KEY=$CANARY'],
    ['an expansion in quotes', 'KEY="$CANARY"'],
    ['a substitution', 'KEY=`CANARY`'],
    ['a substitution in quotes', 'KEY="$(CANARY)"'],
    ['an open quote', "KEY='CANARY"],
    ['an open double quote', 'KEY="CANARY'],
    ['joined quotes', "KEY='CANARY''x'"],
    ['a value given twice', 'KEY=CANARY\nKEY=CANARY'],
    ['YAML', 'KEY: CANARY'],
  ])('%s', (_name, text) => {
    const attempt = () => parse(`FIRST=1\n${text}`)
    expect(attempt).toThrow(ConfigurationError)
    expect(attempt).toThrow(/line [23] of the secrets file app/)
    expect(attempt).not.toThrow(/=.*CANARY|CANARY x/)
  })
})

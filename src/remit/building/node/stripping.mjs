// Takes the types off a TypeScript file: by the project's typescript or esbuild, or by Node itself.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Not every Node has each of its functions, so that they are not imported by name.
const { createRequire, stripTypeScriptTypes } = nodeModule

const EMIT = { target: 'es2022', module: 'esnext' }

/** Which of them there is for a file: {kind, path}, or null. */
export async function findStripper(file) {
  const require = createRequire(file)
  const found = (name) => {
    try {
      return require.resolve(name)
    } catch {
      return null
    }
  }
  const typescript = found('typescript')
  if (typescript && typeof require(typescript).transpileModule === 'function') {
    return { kind: 'typescript', path: typescript }
  }
  const esbuild = found('esbuild')
  if (esbuild) return { kind: 'esbuild', path: esbuild }
  if (typeof stripTypeScriptTypes === 'function') return { kind: 'node' }
  // TypeScript 7 has no function for it, but a compiler that starts fast.
  const compiler = typescript && (await compilerOf(dirname(dirname(typescript))))
  return compiler ? { kind: 'compiler', path: compiler } : null
}

async function compilerOf(folder) {
  try {
    const module = await import(pathToFileURL(join(folder, 'lib', 'getExePath.js')).href)
    const path = module.default()
    return statSync(path).isFile() ? path : null
  } catch {
    return null
  }
}

/** The JavaScript of a TypeScript module, with a source map where there can be one. */
export function strip(url, stripper, scratch) {
  const file = fileURLToPath(url)
  const source = readFileSync(file, 'utf8')
  if (stripper.kind === 'typescript') return byTypeScript(file, source, stripper.path)
  if (stripper.kind === 'esbuild') return byEsbuild(file, source, stripper.path)
  if (stripper.kind === 'compiler') return byCompiler(file, stripper.path, scratch)
  return stripTypeScriptTypes(source, { mode: 'transform', sourceMap: true, sourceUrl: url })
}

function syntaxError(file, message, line, column) {
  return Object.assign(new SyntaxError(message), { place: { file, line, column } })
}

function byTypeScript(file, source, path) {
  const ts = createRequire(file)(path)
  const { outputText, diagnostics } = ts.transpileModule(source, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      ...EMIT,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      inlineSourceMap: true,
    },
  })
  const error = diagnostics?.find((one) => one.category === ts.DiagnosticCategory.Error)
  if (error) {
    const at = error.file?.getLineAndCharacterOfPosition(error.start ?? 0) ?? {
      line: 0,
      character: 0,
    }
    throw syntaxError(
      file,
      ts.flattenDiagnosticMessageText(error.messageText, ' '),
      at.line + 1,
      at.character + 1,
    )
  }
  return outputText
}

function byEsbuild(file, source, path) {
  const esbuild = createRequire(file)(path)
  try {
    return esbuild.transformSync(source, {
      loader: 'ts',
      format: 'esm',
      target: EMIT.target,
      sourcefile: file,
      sourcemap: 'inline',
      logLevel: 'silent',
    }).code
  } catch (error) {
    const first = error?.errors?.[0]
    if (!first) throw error
    throw syntaxError(
      file,
      first.text,
      first.location?.line ?? 1,
      (first.location?.column ?? 0) + 1,
    )
  }
}

function byCompiler(file, compiler, scratch) {
  const folder = mkdtempSync(join(scratch, 'js-'))
  const options = [
    '--ignoreConfig',
    '--noCheck',
    '--noResolve',
    '--isolatedModules',
    '--inlineSourceMap',
    '--skipLibCheck',
    '--noLib',
    '--types',
    '',
    '--pretty',
    'false',
    '--target',
    EMIT.target,
    '--module',
    EMIT.module,
    '--outDir',
    folder,
  ]
  let said = ''
  try {
    execFileSync(compiler, [...options, file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    said = `${error.stdout ?? ''}${error.stderr ?? ''}`
  }
  const syntax = /\((\d+),(\d+)\): error TS1\d{3}: (.+)/.exec(said)
  if (syntax) throw syntaxError(file, syntax[3], Number(syntax[1]), Number(syntax[2]))
  const [written] = readdirSync(folder)
  if (!written) throw syntaxError(file, said.split('\n')[0] || 'it cannot be compiled', 1, 1)
  return placed(readFileSync(join(folder, written), 'utf8'), pathToFileURL(file).href)
}

/** The source map names the file as seen from where it was written; it is read elsewhere. */
function placed(code, url) {
  return code.replace(/(?<=^\/\/# sourceMappingURL=data:application\/json;base64,).+$/m, (map) => {
    const found = JSON.parse(Buffer.from(map, 'base64').toString('utf8'))
    return Buffer.from(JSON.stringify({ ...found, sourceRoot: '', sources: [url] })).toString(
      'base64',
    )
  })
}

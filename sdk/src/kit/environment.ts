/**
 * What Remit tells a component when it starts it: `<BRAND>_APP_ISSUER`, `<BRAND>_APP_AUDIENCE` and
 * `<BRAND>_APP_COMPONENT_URL`. The kit knows no brand: it takes the one variable that ends so.
 */

/** A setting is missing, or there are two of them. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

type Setting = 'ISSUER' | 'AUDIENCE' | 'COMPONENT_URL'

/** @throws SettingError */
export function setting(name: Setting): string {
  const suffix = `_APP_${name}`
  const found = Object.entries(environment()).filter(
    ([key, value]) => key.endsWith(suffix) && key !== suffix && value,
  )
  const [first, ...others] = found
  if (first === undefined) {
    throw new SettingError(
      `No environment variable ends with ${suffix}. Remit sets it when it starts a component; elsewhere set REMIT${suffix}.`,
    )
  }
  if (others.length > 0) {
    const names = found.map(([key]) => key).sort()
    throw new SettingError(
      `Several environment variables end with ${suffix}: ${names.join(', ')}. Keep the one that is meant.`,
    )
  }
  return String(first[1])
}

/**
 * The public URL of this component, for absolute addresses (an `embedUrl`, say).
 *
 * @param path begins with `/`; it may have a query.
 * @throws SettingError where the variable is missing; TypeError where the path is none.
 */
export function componentUrl(path: string = ''): string {
  if (path !== '' && !/^\/(?!\/)/.test(path)) {
    throw new TypeError(
      `The path "${path}" does not begin with one "/". Write componentUrl("/page").`,
    )
  }
  return setting('COMPONENT_URL').replace(/\/+$/, '') + path
}

/** Where there is no `process` (a worker), the settings are given as arguments. */
function environment(): Record<string, string | undefined> {
  const host = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return host.process?.env ?? {}
}

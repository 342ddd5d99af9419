/* No declarations for Swift: this module only passes libsecret's flags to the program in C. */
